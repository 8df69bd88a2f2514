"""Message layer `am2`: NIC program in `nic`, host library in `host`."""
