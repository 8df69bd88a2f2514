"""The message layer `epos`: its NIC program in `nic`, its host library in `host`."""
