"""Host library `tpil`: the tunable PCI injection library."""
