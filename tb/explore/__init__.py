"""Small worlds of a message layer, exhausted: every order of turns, every single fault, each state once."""
