"""Small worlds of AM-II: what is set up."""
