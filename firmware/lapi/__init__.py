"""The message layer `lapi`: its NIC program in `nic`, its host library in `host`."""
