"""Message layer `hal`: NIC firmware in `nic`, host library in `host`."""
