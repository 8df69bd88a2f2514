"""Comparison of C paths with the Python firmware on the same traffic."""
