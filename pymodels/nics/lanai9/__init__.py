"""LANai 9 on a PCI64 card. Its register names are those that firmware uses: `pymodels/registers.py`."""
