"""Small worlds of HPAM for model checking."""
