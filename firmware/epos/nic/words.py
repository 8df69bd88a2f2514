"""Formats of packets, doorbells, queues and words of the NIC's memory, used by both sides.

    frame        0x06 (8) | source (8) | number at its source (16)
                 composition (8) | number of the message (10) | number in it (14)
                 0 | last of it (1) | source (6) | communicator (8) | bytes of payload (16)
                 then the words of the selected protocols, in order, and the payload
    control      0x07 (8) | source (8) | number at its source (16)
                 composition (8) | destination process (8) | source process (8) | kind (8), then a word
    greeting     0x08 (8) | source (8) | number at its source (16)
                 composition (8) | 0 (24), then zeros up to the length of a frame's header
    doorbell     peer (8) | large (1) | slot of the Send Ring (7) | bytes of header and payload (16)
    Rx FIFO      lap (1), then the fields of the header's third word; 0xFFFF bytes: the message stays incomplete;
                 0xFFFE bytes: the composition of the source, in place of the communicator

A source is a peer: a node, or with protection one of its processes. The lap of an entry changes with each round of the
queue, so entries need not be cleared.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from pymodels.codes import quick

DATA, CONTROL, HELLO = 0x06, 0x07, 0x08
"""First byte of a packet: a frame, a control frame between NICs, or a greeting with a host's composition."""
NODES = 64
GROUP = 32
"""Maximum number of nodes that the header of a multicast can name."""
ROUTE = 8
"""Bytes before a frame for its route."""
BASE = 3
"""Number of header words that every frame has."""
SYNDROME = 8
RX_CHAIN, TX_CHAIN = 0, 2
"""Chains of the host DMA; the receiving side has the higher priority, and each chain has its own bit of ISR."""
LAP, LAST = 1 << 31, 1 << 30
INDEX = 0x3FFF
"""Mask of the frame's number in its message, in the second header word."""
INCOMPLETE = 0xFFFF
"""Size field of an Rx FIFO Queue entry for a message with lost frames."""
GREETING = 0xFFFE
"""Size field of an Rx FIFO Queue entry with the composition of its source."""
BELLS = 64
"""Number of entries of the Tx FIFO Queue in NIC memory (without a doorbell FIFO)."""


class Kind(IntEnum):
    """Kind of a control frame."""

    ACK = 0
    """Acknowledgement of the frame with this number, which is in host memory."""
    CREDIT = 1
    """Number of messages copied out."""
    PROBE = 2
    """Request for a CREDIT, from a sender that has waited long for one."""
    ASK = 3
    """Request for a buffer, for the long message with this number."""
    GRANT = 4
    """Grant of a posted buffer: its number and size."""
    MTU = 5
    """New MTU of the sender's frames."""
    MTU_SEEN = 6
    """Confirmation of a new MTU."""


@quick
class Word(IntEnum):
    """Words of the NIC's memory: byte addresses, with the writer in brackets."""

    STAGING = 0x00
    """Physical address of the staging buffers, with protection those of process 0; not 0 means that the driver is ready
    [host].
    """
    SENT = 0x04
    """Number of completed doorbells since the start [NIC]."""
    EMPTY = 0x08
    """Number of invalid doorbells [NIC]."""
    BAD = 0x0C
    """Number of damaged packets [NIC]."""
    FOREIGN = 0x10
    """Number of frames of another composition [NIC]; the next word is the composition of the last one."""
    FOREIGN_IS = 0x14
    REFUSED = 0x18
    """Number of frames rejected by protocols [NIC]."""
    MIRROR = 0x1C
    """Physical address of the Rx FIFO Queue, if it is in host memory [host]."""
    HELD = 0x20
    """Number of frames that had to wait in the Receive Ring for a staging slot [NIC]."""
    STRAY = 0x24
    """Number of frames dropped because a frame before them was lost [NIC]."""
    FREED = 0x40
    """Number of messages of each node that the host has copied out [host]."""


class FrameInfo(NamedTuple):
    """Third word of a frame's header, and an entry of the Rx FIFO Queue."""

    last: bool
    source: int
    communicator: int
    size: int
    """Bytes of payload."""

    @property
    def word(self) -> int:
        """Encoded word."""
        return self.last << 30 | self.source << 24 | self.communicator << 16 | self.size

    @classmethod
    def decode(cls, word: int) -> FrameInfo:
        """Return the fields of a word."""
        return cls(bool(word & LAST), word >> 24 & 63, word >> 16 & 0xFF, word & 0xFFFF)


def number_of(composition: int, message: int, index: int) -> int:
    """Return the second header word of a frame."""
    return composition << 24 | (message & 0x3FF) << 14 | index


def key_of(kind: int, source: int, number: int) -> int:
    """Return the first word of a packet."""
    return kind << 24 | source << 16 | number & 0xFFFF


def bell(node: int, large: bool, slot: int, size: int) -> int:
    """Return a doorbell word."""
    return node << 24 | large << 23 | slot << 16 | size
