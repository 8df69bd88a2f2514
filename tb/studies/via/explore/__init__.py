"""What VIA's small worlds are made of."""
