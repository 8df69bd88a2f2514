"""Driver parts for FIFO cards: the FIFOs of cells, and the buffers."""
