"""Reference models of the NIC's blocks, written from the fact sheet, one file for each block; benches compare with
them.
"""
