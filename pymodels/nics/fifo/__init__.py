"""FIFO card: a NIC without a processor (paper 002: HPAM's Medusa, SSAM's SBA-100)."""
