"""The FPGA card: reference models of its user circuits."""
