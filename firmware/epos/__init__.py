"""Message layer `epos`: NIC firmware in `nic`, host library in `host`."""
