"""The LogGP model of a network: its parameters from measurements, and what it predicts of a schedule of messages."""
