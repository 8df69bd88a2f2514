"""Where things stand in the NIC's memory and in the driver's, and what their words mean. Both sides read this file.

    order (in the NIC)     physical address of a frame | there (1) | 0 | bytes (14) | node (7)
    receive slot           physical address of a buffer; 0: none
    frame                  source (8) | number (24)
                           bytes modulo 8 (3) | 0 | bytes (14), then the IP packet
    frame that has come    source (8) | number (24)
    (in host memory)       there (1) | 0 | bytes (14)

The NIC numbers frames from 1 in the order of their orders, so the driver knows a frame's first word: its key in every
trace.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from pymodels.codes import quick

ORDERS, SLOTS = 64, 64
"""Frames of which the NIC knows: to be sent, and buffers for those to come."""
MOST = 9000
"""Bytes of a frame, its IP header included (ours: what the IP driver of Myrinet took at the time, from memory)."""
IP_LEAST = 21
"""Bytes of a frame at least: an IP header and something behind it."""
NODES = 128
NUMBER = 0xFFFFFF
THERE = 1 << 31
SIZE = 0x3FFF


@quick
class Word(IntEnum):
    """Words of the NIC's memory [who writes], byte addresses."""

    CAME = 0x00
    """Physical address of the ring that tells of frames; not 0 = the driver is ready [host]."""
    READ = 0x04
    """How many orders the NIC has read out of host memory, counted from the start [NIC]."""
    DROPPED = 0x08
    """Frames that found no receive buffer [NIC]."""
    BAD = 0x0C
    """Frames that came damaged [NIC]."""
    ORDERS = 0x100
    """The ring of orders, two words each [host]; the second 0: taken [NIC]."""
    SLOTS = 0x300
    """The ring of receive slots [host]; 0: taken [NIC]."""
    END = 0x400


PORT = 0x1000
"""From here on the NIC's memory is the packet port's."""
CAME_BYTES = 8 * SLOTS
"""Of the ring that tells of frames."""


class Order(NamedTuple):
    """A frame that the driver has in host memory."""

    address: int
    size: int
    node: int

    @property
    def words(self) -> tuple[int, int]:
        """As they stand in the ring."""
        return self.address, THERE | self.size << 7 | self.node

    @classmethod
    def of(cls, words: tuple[int, ...]) -> Order:
        """Taken apart."""
        return cls(words[0], words[1] >> 7 & SIZE, words[1] & 0x7F)


def header(source: int, before: int, size: int) -> tuple[int, int]:
    """The two words in front of a frame; so many have gone `before`."""
    return source << 24 | before + 1 & NUMBER, (size & 7) << 29 | size


def came(words: tuple[int, int]) -> tuple[int, int]:
    """Of a frame's words those that tell the host of it."""
    return words[0], THERE | words[1] & SIZE
