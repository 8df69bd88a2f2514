"""Hardware as tools for FPGAs see it: blocks mapped to cells, their netlists simulated, their equivalence proved."""
