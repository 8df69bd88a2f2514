"""Options of UDP."""

from __future__ import annotations

from dataclasses import dataclass

from firmware.options import LayerOptions, option
from firmware.udp.nic.layout import MOST


@dataclass(frozen=True)
class Options(LayerOptions):
    """Options with their defaults."""

    mtu: int = option(MOST, "largest frame in bytes, IP header included", 576, MOST)
    receive_bytes: int = option(
        65536,
        "bytes of datagrams that a socket holds until they are received (from memory: Linux 2.2, 64 KB)",
        2048,
        1 << 20,
    )
    partial_bytes: int = option(
        262144,
        "bytes of frames that wait for the rest of their datagrams; beyond that the oldest is dropped (Linux 2.2)",
        65536,
        1 << 20,
    )
