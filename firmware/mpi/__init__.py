"""The message layer `mpi`: its NIC program in `nic`, its host library in `host`."""
