"""Message layer `udp`: NIC firmware in `nic`, sockets, kernel code and driver in `host`."""
