"""Paths in C that run beside the firmware in Python, on the same traffic."""
