"""The message layer `hal`: its NIC program in `nic`, its host library in `host`."""
