"""The message layer `echo`: its NIC program in `nic`, its host library in `host`."""
