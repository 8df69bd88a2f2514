"""Message layer `via`: NIC program in `nic`, host library in `host`."""
