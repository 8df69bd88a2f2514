"""The message layer `hpam`: its NIC program in `nic`, its host library in `host`."""
