"""Memory layouts and word formats shared by firmware and driver.

    order (in the NIC)     physical address of a frame | valid (1) | 0 | bytes (14) | node (7)
    receive slot           physical address of a buffer; 0: none
    frame                  source (8) | number (24)
                           bytes modulo 8 (3) | 0 | bytes (14), then the IP packet
    words of a received    source (8) | number (24)
    frame (in host memory) valid (1) | 0 | bytes (14)

The NIC numbers frames from 1 in the order of their orders. So the driver knows a frame's first word, which is its key
in every trace.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from pymodels.codes import quick

ORDERS, SLOTS = 64, 64
"""Frames to be sent, and receive buffers, that the NIC holds."""
MOST = 9000
"""Largest frame in bytes, IP header included (ours: the limit of Myrinet's IP driver of the time, from memory)."""
IP_LEAST = 21
"""Smallest frame in bytes: an IP header and one byte."""
NODES = 128
NUMBER = 0xFFFFFF
VALID = 1 << 31
SIZE = 0x3FFF


@quick
class Word(IntEnum):
    """Byte addresses of shared words in the NIC's memory [writer]."""

    CAME = 0x00
    """Physical address of the ring that announces frames; nonzero when the driver is ready [host]."""
    READ = 0x04
    """Number of orders whose frames the NIC has read since the start [NIC]."""
    DROPPED = 0x08
    """Number of frames dropped for lack of a receive buffer [NIC]."""
    BAD = 0x0C
    """Number of damaged frames received [NIC]."""
    ORDERS = 0x100
    """Ring of orders, two words each [host]; second word 0: taken [NIC]."""
    SLOTS = 0x300
    """Ring of receive slots [host]; 0: taken [NIC]."""
    END = 0x400


PORT = 0x1000
"""Start of the packet port's area in the NIC's memory."""
CAME_BYTES = 8 * SLOTS
"""Bytes of the ring that announces frames."""


class Order(NamedTuple):
    """Send order for a frame in host memory."""

    address: int
    size: int
    node: int

    @property
    def words(self) -> tuple[int, int]:
        """Encoded words."""
        return self.address, VALID | self.size << 7 | self.node

    @classmethod
    def decode(cls, words: tuple[int, ...]) -> Order:
        """Decode the words."""
        return cls(words[0], words[1] >> 7 & SIZE, words[1] & 0x7F)


def header(source: int, before: int, size: int) -> tuple[int, int]:
    """Return the two words in front of a frame; `before` is the number of frames sent before it."""
    return source << 24 | before + 1 & NUMBER, (size & 7) << 29 | size


def came(words: tuple[int, int]) -> tuple[int, int]:
    """Return the two words that announce a received frame to the host."""
    return words[0], VALID | words[1] & SIZE
