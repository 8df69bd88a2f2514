"""The message layer `via`: its NIC program in `nic`, its host library in `host`."""
