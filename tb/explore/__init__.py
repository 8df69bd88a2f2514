"""Model checking of message layers on small worlds: every order of turns and every single fault, each state once."""
