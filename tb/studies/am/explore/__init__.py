"""Small worlds of AM for model checking: traffic and expected results."""
