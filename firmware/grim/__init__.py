"""Message layer `grim`: NI firmware in `nic`, host library in `host`."""
