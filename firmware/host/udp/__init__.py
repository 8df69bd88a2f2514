"""UDP on the host: sockets of processes, IP and UDP in the kernel, the driver of the NIC."""

from __future__ import annotations

from firmware.host.udp.errors import UdpError
from firmware.host.udp.library import Udp
from firmware.host.udp.sockets import Received, Socket

__all__ = ["Received", "Socket", "Udp", "UdpError", "open_layer"]

open_layer = Udp
