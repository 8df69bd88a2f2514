"""Small worlds of SSAM: what is set up."""
