"""UDP on the host: sockets of processes, IP and UDP in the kernel, the NIC driver."""

from __future__ import annotations

from firmware.udp.host.errors import UdpError
from firmware.udp.host.library import Udp
from firmware.udp.host.sockets import Received, Socket

__all__ = ["Received", "Socket", "Udp", "UdpError"]
