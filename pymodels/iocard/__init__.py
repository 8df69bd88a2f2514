"""The intelligent I/O card: register map of its message unit and DMA engine."""
