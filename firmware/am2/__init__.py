"""The message layer `am2`: its NIC program in `nic`, its host library in `host`."""
