"""Remote memory: execution of its messages, and address translation."""
