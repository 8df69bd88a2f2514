"""Message layer `fifo`: driver of the FIFO card, which has no processor and no firmware."""
