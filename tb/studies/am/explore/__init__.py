"""Small worlds of AM: what is set up, and what is promised."""
