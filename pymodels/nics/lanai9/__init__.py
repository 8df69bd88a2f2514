"""The LANai 9 on a PCI64 card. Its registers have the names by which firmware speaks: `pymodels/registers.py`."""
