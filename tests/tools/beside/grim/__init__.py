"""GRIM's NI firmware in terms of its C: its state, and the arguments of each path."""
