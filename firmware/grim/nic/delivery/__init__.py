"""Delivery to the host: receive buffers, endpoint queues, host DMA, cut-through."""
