"""The message layer `ssam`: its NIC program in `nic`, its host library in `host`."""
