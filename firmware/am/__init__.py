"""Message layer `am` (Active Messages): NIC firmware in `nic`, host library in `host`."""
