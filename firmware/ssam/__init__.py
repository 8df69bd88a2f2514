"""Message layer `ssam`: Active Messages through the kernel, without firmware."""
