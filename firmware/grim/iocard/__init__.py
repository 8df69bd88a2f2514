"""Firmware of the I/O card as an endpoint of GRIM: a disk server."""
