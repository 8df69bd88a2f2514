"""The message layer `am`: its NIC program in `nic`, its host library in `host`."""
