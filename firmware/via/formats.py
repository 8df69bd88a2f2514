"""Formats of VIA packet headers and descriptors, for NIC, host, reports and tests.

The header (size: paper 001, 3.3.1; the fields are not from the paper) is two big-endian words:

    w0   0 (1) | source node (7) | connection (8) | number of the message at its source (16)
    w1   bytes of payload, modulo 8 (3) | VI at the target (7) | kind (4) | first (1) | last (1) | sequence number (16)

The first word is the packet's key in every trace. The kernel agents number the connections, so that packets of an
earlier connection are not accepted. Their own messages have connection 0. The sequence number counts the packets of one
direction of a connection, and reveals a missing one. In an acknowledgement it is the number of the acknowledged
message. A network pads a payload to whole words at most, so three bits suffice for the size.

A descriptor is a control segment of 32 bytes, then for RDMA an address segment, then data segments, 16 bytes each.
Names and bits are those of the specification that the paper cites. Addresses of 32 bits and big-endian words are not.

    byte 0   next descriptor (address, handle, reserved)     12   segments (16) | control (16)
        16   reserved        20   immediate data        24   length        28   status
    segment  0   virtual address    4   reserved    8   memory handle    12   length (data segments)
"""

from __future__ import annotations

from enum import IntEnum, IntFlag
from typing import NamedTuple

from pymodels.codes import quick

NODES = 1 << 7
"""Number of nodes that a header can address."""
VIS = 1 << 7
"""Number of VIs that a header can address at one node. VI 0 belongs to the kernel agents (readings C12)."""
MOST_PAYLOAD = 1 << 12
"""Maximum payload of a packet: one page, because packets do not cross page boundaries."""
SEQUENCE = NUMBER = (1 << 16) - 1
"""Mask of sequence numbers and of message numbers, which wrap."""
CONNECTION = (1 << 8) - 1
"""Mask of the bits of a connection's number in a packet."""
REST = 7
"""Mask of the bits of a payload's size in a header."""
INLINE, MOST_INLINE = 8, 64
"""Bytes of payload that follow the header at once, without a fetch (readings C4): default (the paper's), and maximum.
"""


@quick
class Kind(IntEnum):
    """Kind of a packet."""

    SEND = 0
    """Part of a message for the target's receive descriptor."""
    IMMEDIATE = 1
    """End of a message: four bytes of immediate data."""
    ADDRESS = 2
    """Start of an RDMA write or read: virtual address and memory handle at the target."""
    RDMA = 3
    """Part of an RDMA write."""
    READ = 4
    """Request to read the given number of bytes at the address of the preceding ADDRESS packet."""
    DATA = 5
    """Part of the data of an RDMA read."""
    DONE = 8
    """Acknowledgement of a reliable connection: this message and all earlier ones meet the reliability level."""
    NO_DESCRIPTOR = 9
    """NACK: the target had no receive descriptor. This and all following kinds break the connection."""
    TOO_LONG = 10
    """NACK: the receive descriptor was too short."""
    LOST = 11
    """NACK: a packet is missing, of this message or, with flag `last`, of the next one."""
    NOT_ALLOWED = 12
    """NACK: the RDMA operation names memory that does not allow it."""


class Header(NamedTuple):
    """Header of a packet."""

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
        """Return the two encoded words."""
        low = self.kind << 18 | self.first << 17 | self.last << 16 | self.sequence
        return self.source << 24 | self.connection << 16 | self.number, self.rest << 29 | self.vi << 22 | low


def parse(w0: int, w1: int) -> Header:
    """Return the header encoded in two words."""
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
"""Alignment of descriptors, so that a status never crosses a page (specification: VIP_DESCRIPTOR_ALIGNMENT)."""


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
    """A send completes when it is transmitted. Losses are not detected."""
    DELIVERY = 2
    """A send completes when the remote NIC has the whole message."""
    RECEPTION = 4
    """A send completes when the whole message is in remote memory."""
