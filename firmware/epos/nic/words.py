"""What the words of packets, doorbells, queues and of the NIC's memory mean. Both sides read this file.

    frame        0x06 (8) | source (8) | number at its source (16)
                 composition (8) | number of the message (10) | number in it (14)
                 0 | last of it (1) | source (6) | communicator (8) | bytes of payload (16)
                 then the words of the selected protocols, in their order, and the payload
    control      0x07 (8) | source (8) | number at its source (16)
                 composition (8) | process to which (8) | process from which (8) | kind (8), then a word
    greeting     0x08 (8) | source (8) | number at its source (16)
                 composition (8) | 0 (24), then zeros as long as the header of a frame
    doorbell     peer (8) | large (1) | slot of the Send Ring (7) | bytes of header and payload (16)
    Rx FIFO      lap (1), and what the third word of the header says; 0xFFFF bytes: the message stays incomplete;
                 0xFFFE bytes: the composition of the source, in place of the communicator

A source is a peer: a node, or with protection one of its processes. The lap of an entry changes each time round the
queue, so nobody has to clear it.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from pymodels.codes import quick

DATA, CONTROL, HELLO = 0x06, 0x07, 0x08
"""First byte of a packet: a frame, what NICs tell each other, or what a host is composed of."""
NODES = 64
GROUP = 32
"""Nodes that the header of a multicast can name."""
ROUTE = 8
"""Bytes before a frame, for its route."""
BASE = 3
"""Words of the header that every frame has."""
SYNDROME = 8
RX_CHAIN, TX_CHAIN = 0, 2
"""Chains of the host DMA; the receive side goes first, and each has a bit of ISR of its own."""
LAP, LAST = 1 << 31, 1 << 30
INDEX = 0x3FFF
"""Of the second word of a frame: its number in the message."""
INCOMPLETE = 0xFFFF
"""Bytes of an entry of the Rx FIFO Queue where frames of a message are lost."""
GREETING = 0xFFFE
"""Bytes of an entry that says what its source is composed of."""
BELLS = 64
"""Entries of the Tx FIFO Queue where it is words of the NIC's memory."""


class Kind(IntEnum):
    """What a control frame says."""

    ACK = 0
    """The frame with this number is in host memory."""
    CREDIT = 1
    """So many messages were copied out."""
    PROBE = 2
    """How many were? The sender of this has no credit, and has heard nothing for long."""
    ASK = 3
    """A buffer for the long message with this number?"""
    GRANT = 4
    """It is posted: the number, and how long it is."""
    MTU = 5
    """Frames of the sender are cut so from now on."""
    MTU_SEEN = 6
    """The NIC that says so knows it."""


@quick
class Word(IntEnum):
    """Words of the NIC's memory [who writes], byte addresses."""

    STAGING = 0x00
    """Physical address of the staging buffers, with protection of the first process; not 0 = the driver is ready
    [host]."""
    SENT = 0x04
    """How many doorbells are done with, counted from the start [NIC]."""
    EMPTY = 0x08
    """Doorbells with no frame behind [NIC]."""
    BAD = 0x0C
    """Packets that came damaged [NIC]."""
    FOREIGN = 0x10
    """Frames of another composition [NIC]; then the composition of the last one."""
    FOREIGN_IS = 0x14
    REFUSED = 0x18
    """What protection has refused [NIC]."""
    MIRROR = 0x1C
    """Physical address of the Rx FIFO Queue, where it is in host memory [host]."""
    HELD = 0x20
    """Frames that had to wait in the Receive Ring for a staging slot [NIC]."""
    STRAY = 0x24
    """Frames that were dropped, as they do not follow the one before: one between them is lost [NIC]."""
    FREED = 0x40
    """For each node: messages of it that the host has copied out [host]."""


class Told(NamedTuple):
    """The third word of a frame's header, and an entry of the Rx FIFO Queue."""

    last: bool
    source: int
    communicator: int
    size: int
    """Bytes of payload."""

    @property
    def word(self) -> int:
        """As it stands there."""
        return self.last << 30 | self.source << 24 | self.communicator << 16 | self.size

    @classmethod
    def of(cls, word: int) -> Told:
        """Taken apart."""
        return cls(bool(word & LAST), word >> 24 & 63, word >> 16 & 0xFF, word & 0xFFFF)


def number_of(composition: int, message: int, index: int) -> int:
    """Second word of a frame."""
    return composition << 24 | (message & 0x3FF) << 14 | index


def key_of(kind: int, source: int, number: int) -> int:
    """First word of a packet."""
    return kind << 24 | source << 16 | number & 0xFFFF


def bell(node: int, large: bool, slot: int, size: int) -> int:
    """A doorbell."""
    return node << 24 | large << 23 | slot << 16 | size
