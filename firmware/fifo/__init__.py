"""The message layer `fifo`: its NIC program in `nic`, its host library in `host`."""
