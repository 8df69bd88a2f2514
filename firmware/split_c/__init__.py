"""Host library `split_c`: Split-C over AM, without firmware of its own."""
