"""The SP adapter."""
