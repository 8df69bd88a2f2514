"""Memory layouts and word formats shared by firmware and host library.

    host memory, pinned    64 send buffers | 64 receive buffers | 64 pairs of words of received packets
    order (in the NIC)     valid (1) | 0 | bytes - 1 (10) | protocol (3) | way (4) | node (7) | buffer (6)
    packet                 source (8) | number (24)
                           bytes modulo 8 (3) | protocol (3) | 0 | bytes (11), then header of the protocol and data
    words of a received    source (8) | number (24)
    packet                 valid (1) | 0 | protocol (3) | bytes (11)

The NIC numbers packets from 1 in the order of their orders. So the host knows a packet's first word, which is its key
in every trace.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from pymodels.codes import quick

BUFFERS = 64
"""Number of send buffers of a node, of its receive buffers, and of its orders."""
MOST = 1024
"""Largest packet in bytes: protocol header and data."""
NODES, WAYS, PROTOCOLS = 128, 16, 8
NUMBER = 0xFFFFFF
VALID = 1 << 31


@quick
class Word(IntEnum):
    """Byte addresses of shared words in the NIC's memory [writer]."""

    MEMORY = 0x00
    """Physical address of the host buffers; nonzero when the driver is ready [host]."""
    FREED = 0x04
    """Number of receive buffers returned by the host since the start [host]."""
    READ = 0x08
    """Number of orders whose buffers the NIC has read since the start [NIC]."""
    INTERRUPT = 0x0C
    """1: the next packet interrupts the host [host]; 0: the interrupt has been raised [NIC]."""
    DROPPED = 0x10
    """Number of packets dropped for lack of a receive buffer [NIC]."""
    BAD = 0x14
    """Number of damaged packets received [NIC]."""
    ORDERS = 0x100
    """Ring of orders [host]; 0: taken [NIC]."""
    END = 0x200


PORT = 0x1000
"""Start of the packet port's area in the NIC's memory."""


class Place:
    """Offsets in the host buffers."""

    SEND = 0
    RECEIVE = BUFFERS * MOST
    CAME = 2 * BUFFERS * MOST
    BYTES = CAME + 8 * BUFFERS


class Order(NamedTuple):
    """Send order for a packet in a send buffer."""

    size: int
    protocol: int
    way: int
    node: int
    buffer: int

    @property
    def word(self) -> int:
        """Encoded word."""
        return VALID | self.size - 1 << 20 | self.protocol << 17 | self.way << 13 | self.node << 6 | self.buffer

    @classmethod
    def decode(cls, word: int) -> Order:
        """Decode a word."""
        return cls((word >> 20 & 0x3FF) + 1, word >> 17 & 7, word >> 13 & 15, word >> 6 & 0x7F, word & 0x3F)


def header(source: int, before: int, order: Order) -> tuple[int, int]:
    """Return the two words in front of a packet; `before` is the number of packets sent before it."""
    return source << 24 | before + 1 & NUMBER, (order.size & 7) << 29 | order.protocol << 26 | order.size


def came(words: tuple[int, int]) -> tuple[int, int]:
    """Return the two words that announce a received packet to the host."""
    return words[0], VALID | (words[1] >> 26 & 7) << 11 | words[1] & 0x7FF


class Came(NamedTuple):
    """Decoded words of a received packet."""

    source: int
    protocol: int
    size: int

    @classmethod
    def decode(cls, words: tuple[int, ...]) -> Came:
        """Decode the two words."""
        return cls(words[0] >> 24, words[1] >> 11 & 7, words[1] & 0x7FF)
