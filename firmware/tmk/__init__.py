"""The message layer `tmk`: its NIC program in `nic`, its host library in `host`."""
