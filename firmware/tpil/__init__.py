"""The message layer `tpil`: its NIC program in `nic`, its host library in `host`."""
