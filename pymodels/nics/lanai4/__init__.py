"""LANai 4 on a PCI32 card."""
