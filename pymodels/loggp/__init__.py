"""LogGP model of a network: parameters from measurements, and predictions for a schedule of messages."""
