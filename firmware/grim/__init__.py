"""The message layer `grim`: its NIC program in `nic`, its host library in `host`."""
