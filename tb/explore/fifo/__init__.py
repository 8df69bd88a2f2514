"""Small worlds of layers on FIFO cards: what is set up."""
