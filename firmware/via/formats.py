"""What travels in a VIA packet's 8-byte header, and what stands in a VIA descriptor: both sides, reports and tests.

The header (its size: paper 001, 3.3.1; its fields are ours), two big-endian words:

    w0   0 (1) | source node (7) | connection (8) | number of the message at its source (16)
    w1   bytes of payload, modulo 8 (3) | VI at the target (7) | kind (4) | first (1) | last (1) | sequence number (16)

The first word is the packet's key in every trace. The connection is the number that its kernel agents gave to it, so
that nobody takes a packet of an earlier one for his; of the kernel agents' own messages 0. The sequence number counts
the packets of one direction of a connection, so that its target sees that one is missing; in an answer it is the number
of the message that is answered. A network pads a payload to whole words at most, so three bits tell its size.

A descriptor (names and bits as in the specification that the paper cites; 32-bit addresses; big-endian words, ours) is
a control segment of 32 bytes, then for RDMA an address segment, then data segments, 16 bytes each:

    byte 0   next descriptor (address, handle, reserved)     12   segments (16) | control (16)
        16   reserved        20   immediate data        24   length        28   status
    segment  0   virtual address    4   reserved    8   memory handle    12   length (data segments)
"""

from __future__ import annotations

from enum import IntEnum, IntFlag
from typing import NamedTuple

from pymodels.codes import quick

NODES = 1 << 7
"""Nodes that a header can name."""
VIS = 1 << 7
"""VIs that a header can name at one node; VI 0 is the kernel agents' (readings C12)."""
MOST_PAYLOAD = 1 << 12
"""A page: no packet crosses from one page of memory to the next."""
SEQUENCE = NUMBER = (1 << 16) - 1
"""Sequence numbers, and numbers of messages, go round behind it."""
CONNECTION = (1 << 8) - 1
"""The bits of a connection's number that travel with each packet."""
REST = 7
"""The bits of a payload's size that do."""
INLINE, MOST_INLINE = 8, 64
"""Bytes of payload that need no fetch: the header of a packet is followed by them at once (readings C4). As the paper
has it, and at most.
"""


@quick
class Kind(IntEnum):
    """What a packet is."""

    SEND = 0
    """A piece of a message for the target's receive descriptor."""
    IMMEDIATE = 1
    """The end of a message: four bytes of immediate data."""
    ADDRESS = 2
    """The start of an RDMA write or read: virtual address and memory handle at the target."""
    RDMA = 3
    """A piece of it."""
    READ = 4
    """Behind ADDRESS: so many bytes of what stands there are wanted."""
    DATA = 5
    """A piece of what was read."""
    DONE = 8
    """Answer of reliable VIs: the message of this number, and all before it, are where the reliability level wants."""
    NO_DESCRIPTOR = 9
    """Answer: the target had no receive descriptor. From here on: the connection is broken."""
    TOO_LONG = 10
    """Answer: the receive descriptor was too short."""
    LOST = 11
    """Answer: a packet is missing, of the message of this number or, if that is `last`, of the one behind it."""
    NOT_ALLOWED = 12
    """Answer: the RDMA write names memory that it may not write."""


class Header(NamedTuple):
    """The header of a packet."""

    source: int
    connection: int
    number: int
    rest: int
    vi: int
    kind: int
    first: bool
    last: bool
    sequence: int

    def words(self) -> tuple[int, int]:
        """As it travels."""
        low = self.kind << 18 | self.first << 17 | self.last << 16 | self.sequence
        return self.source << 24 | self.connection << 16 | self.number, self.rest << 29 | self.vi << 22 | low


def parse(w0: int, w1: int) -> Header:
    """The fields of a header."""
    return Header(
        w0 >> 24,
        w0 >> 16 & CONNECTION,
        w0 & NUMBER,
        w1 >> 29,
        w1 >> 22 & 0x7F,
        w1 >> 18 & 0xF,
        bool(w1 >> 17 & 1),
        bool(w1 >> 16 & 1),
        w1 & SEQUENCE,
    )


@quick
class Field(IntEnum):
    """Byte offsets in a descriptor's control segment, and its size."""

    NEXT = 0
    CONTROL = 12
    IMMEDIATE = 20
    LENGTH = 24
    STATUS = 28
    SIZE = 32


@quick
class Segment(IntEnum):
    """Byte offsets in an address or data segment, and its size."""

    ADDRESS = 0
    HANDLE = 8
    LENGTH = 12
    SIZE = 16


ALIGNMENT = 64
"""Of descriptors, so that a status never crosses a page (specification: VIP_DESCRIPTOR_ALIGNMENT)."""


class Control(IntFlag):
    """Bits of a descriptor's control field."""

    SEND_RECEIVE = 0
    RDMA_WRITE = 1
    RDMA_READ = 2
    OPERATION = 3
    IMMEDIATE = 4
    FENCE = 8


class Status(IntFlag):
    """Bits of a descriptor's status word."""

    DONE = 1 << 0
    FORMAT_ERROR = 1 << 1
    PROTECTION_ERROR = 1 << 2
    LENGTH_ERROR = 1 << 3
    PARTIAL_ERROR = 1 << 4
    FLUSHED = 1 << 5
    TRANSPORT_ERROR = 1 << 6
    RDMA_PROTECTION = 1 << 7
    REMOTE_DESCRIPTOR = 1 << 8
    ERRORS = 0x1FE
    RECEIVE = 1 << 16
    WRITE = 2 << 16
    REMOTE_WRITE = 3 << 16
    READ = 4 << 16
    IMMEDIATE = 1 << 19


class Reliability(IntEnum):
    """Reliability levels (readings C11)."""

    UNRELIABLE = 1
    """A send completes when it is transmitted; loss goes unseen."""
    DELIVERY = 2
    """It completes when the remote NIC has all of it."""
    RECEPTION = 4
    """It completes when all of it is in remote memory."""
