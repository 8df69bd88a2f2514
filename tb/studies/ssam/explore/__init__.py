"""Small worlds of SSAM for model checking."""
