"""Host library `mpi`: MPI over another message layer, without firmware of its own."""
