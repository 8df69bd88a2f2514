"""What drivers of a FIFO card share: the FIFOs of cells."""
