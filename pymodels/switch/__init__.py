"""Reference models of the switches."""
