"""Remote memory: what its messages ask for, and the translation of addresses."""
