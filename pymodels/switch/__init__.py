"""The crossbar switch: reference models."""
