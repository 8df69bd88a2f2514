"""GRIM's NI firmware in the words of its C: its state, and what each path is given."""
