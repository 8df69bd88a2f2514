"""How what has come reaches the host: buffers, endpoints' queues, host DMA, cut-through."""
