"""Applications over the libraries of message layers; each computes a result and checks it."""
