"""Reference models of the NIC's blocks, written from the fact sheet, one file per block; benches compare with them."""
