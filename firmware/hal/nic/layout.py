"""Where things stand in the NIC's memory and in the host's, and what their words mean. Both sides read this file.

    host memory, pinned    64 send buffers | 64 receive buffers | 64 times the words of a packet that has come
    order (in the NIC)     there (1) | 0 | bytes - 1 (10) | protocol (3) | way (4) | node (7) | buffer (6)
    packet                 source (8) | number (24)
                           bytes modulo 8 (3) | protocol (3) | 0 | bytes (11), then header of the protocol and data
    packet that has come   source (8) | number (24)
                           there (1) | 0 | protocol (3) | bytes (11)

The NIC numbers packets from 1 in the order of their orders, so the host knows a packet's first word: its key in every
trace.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from pymodels.codes import quick

BUFFERS = 64
"""Send buffers of a node, its receive buffers, and orders that it takes."""
MOST = 1024
"""Bytes of a packet: header of the protocol, and data."""
NODES, WAYS, PROTOCOLS = 128, 16, 8
NUMBER = 0xFFFFFF
THERE = 1 << 31


@quick
class Word(IntEnum):
    """Words of the NIC's memory [who writes], byte addresses."""

    MEMORY = 0x00
    """Physical address of the host's part; not 0 = the driver is ready [host]."""
    FREED = 0x04
    """How many receive buffers the host has given back, counted from the start [host]."""
    READ = 0x08
    """How many orders the NIC has read out of their buffers, counted from the start [NIC]."""
    INTERRUPT = 0x0C
    """1: the next packet interrupts the host [host]; 0: it has done so [NIC]."""
    DROPPED = 0x10
    """Packets that found no receive buffer [NIC]."""
    BAD = 0x14
    """Packets that came damaged [NIC]."""
    ORDERS = 0x100
    """The ring of orders [host]; 0: taken [NIC]."""
    END = 0x200


PORT = 0x1000
"""From here on the NIC's memory is the packet port's."""


class Place:
    """Offsets in the host's part."""

    SEND = 0
    RECEIVE = BUFFERS * MOST
    CAME = 2 * BUFFERS * MOST
    BYTES = CAME + 8 * BUFFERS


class Order(NamedTuple):
    """A packet that the host has put into a send buffer."""

    size: int
    protocol: int
    way: int
    node: int
    buffer: int

    @property
    def word(self) -> int:
        """As it stands in the ring."""
        return THERE | self.size - 1 << 20 | self.protocol << 17 | self.way << 13 | self.node << 6 | self.buffer

    @classmethod
    def of(cls, word: int) -> Order:
        """Taken apart."""
        return cls((word >> 20 & 0x3FF) + 1, word >> 17 & 7, word >> 13 & 15, word >> 6 & 0x7F, word & 0x3F)


def header(source: int, before: int, order: Order) -> tuple[int, int]:
    """The two words in front of a packet; so many have gone `before`."""
    return source << 24 | before + 1 & NUMBER, (order.size & 7) << 29 | order.protocol << 26 | order.size


def came(words: tuple[int, int]) -> tuple[int, int]:
    """Of a packet's words those that tell the host of it."""
    return words[0], THERE | (words[1] >> 26 & 7) << 11 | words[1] & 0x7FF


class Came(NamedTuple):
    """What the host reads of a packet."""

    source: int
    protocol: int
    size: int

    @classmethod
    def of(cls, words: tuple[int, ...]) -> Came:
        """Taken apart."""
        return cls(words[0] >> 24, words[1] >> 11 & 7, words[1] & 0x7FF)
