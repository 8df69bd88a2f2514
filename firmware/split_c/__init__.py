"""The message layer `split_c`: its NIC program in `nic`, its host library in `host`."""
