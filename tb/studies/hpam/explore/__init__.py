"""Small worlds of HPAM: what is set up."""
