"""Code shared by several kinds of NIC; not a kind itself."""
