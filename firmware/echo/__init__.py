"""Message layer `echo`: NIC firmware in `nic`, host library in `host`."""
