"""Benchmark of the laboratory's own speed: `make bench`."""
