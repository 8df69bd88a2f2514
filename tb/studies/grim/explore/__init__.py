"""Model checking of GRIM: its small worlds."""
