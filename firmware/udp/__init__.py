"""The message layer `udp`: its NIC program in `nic`, its host library in `host`."""
