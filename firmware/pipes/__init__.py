"""The message layer `pipes`: its NIC program in `nic`, its host library in `host`."""
