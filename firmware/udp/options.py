"""Options of UDP."""

from __future__ import annotations

from dataclasses import dataclass

from firmware.options import LayerOptions, option
from firmware.udp.nic.layout import MOST


@dataclass(frozen=True)
class Options(LayerOptions):
    """The options with their defaults."""

    mtu: int = option(MOST, "Bytes of a frame at most, its IP header included", 576, MOST)
    receive_bytes: int = option(
        65536,
        "A socket holds so many bytes of datagrams that nobody has received yet (from memory: Linux 2.2, 64 KB)",
        2048,
        1 << 20,
    )
    partial_bytes: int = option(
        262144,
        "So many bytes of frames wait for the rest of their datagrams; then the oldest datagram goes (Linux 2.2)",
        65536,
        1 << 20,
    )
