"""What GRIM's small worlds are made of."""
