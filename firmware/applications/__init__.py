"""Programs of users over the libraries of message layers: they compute something, and check it."""
