"""SP adapter."""
