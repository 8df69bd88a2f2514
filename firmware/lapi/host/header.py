"""Packet header of 48 bytes (paper 001, 6.5.1).

    type (16) | kind (8) | flags (8) | sequence | expected | beyond
    message (16) | bytes of the user header (16) | offset | bytes of the message
    address | counter | completion | first | second

Sequence numbers count the packets of a pair of tasks; `expected` and `beyond` acknowledge those of the other direction.
The words from `message` on are equal in all packets of a message, except for the offset of the data. The user header
follows the 48 bytes in a message's first packet.
"""

from __future__ import annotations

import struct
from enum import IntEnum, IntFlag
from typing import NamedTuple

from firmware.hal.host.interface import MOST as PACKET

TYPE = 0x4C41
FORMAT = struct.Struct(">HBB3I2H7I")
BYTES = FORMAT.size
MOST = PACKET - BYTES
"""Largest user header and data of a packet, bytes."""
MASK = 0xFFFFFFFF
MESSAGES = 1 << 16
"""Number of message numbers of a pair; more than can be outstanding."""


class Kind(IntEnum):
    """Kind of the message that a packet is part of [address, counter, completion, first, second]."""

    ACKNOWLEDGE = 0
    """Acknowledgement, or a request for one; has no sequence number of its own."""
    PUT = 1
    """Data for `address`."""
    AMSEND = 2
    """Data for the address returned by the header handler at `address`."""
    GET = 3
    """Request for `second` bytes at `address`, to be stored at `first`, with counter `completion` there."""
    DATA = 4
    """Reply to GET."""
    RMW = 5
    """Request to change the word at `address` by `first` and `second`; the old value goes to `completion`."""
    PREVIOUS = 6
    """Reply to RMW: old value `first`, for `address`."""
    DONE = 7
    """Increment of a counter."""
    NOTE = 8
    """Part of a collective call: number `address`, kind `completion`, value `first`."""
    SET = 9
    """Word `first` to be stored at `address`."""


class Flag(IntFlag):
    """Flags of a packet."""

    ASK = 1
    """Request for an acknowledgement when all packets up to this sequence number have arrived."""
    NOW = 2
    """Request for an immediate acknowledgement; in an acknowledgement, the reply to such a request."""
    FIRST = 4
    """First packet of its message."""


NONE = Flag(0)


class Header(NamedTuple):
    """Decoded header."""

    kind: int
    flags: int = 0
    sequence: int = 0
    expected: int = 0
    beyond: int = 0
    message: int = 0
    user: int = 0
    offset: int = 0
    size: int = 0
    address: int = 0
    counter: int = 0
    completion: int = 0
    first: int = 0
    second: int = 0

    def pack(self) -> bytes:
        """Return the encoded header."""
        return FORMAT.pack(TYPE, *self)

    @classmethod
    def decode(cls, packet: memoryview) -> Header | None:
        """Decode the header of a packet; None if the packet is not LAPI's."""
        if len(packet) < BYTES:
            return None
        type_of, *fields = FORMAT.unpack_from(packet)
        return cls(*fields) if type_of == TYPE and fields[0] in tuple(Kind) else None


def ahead(sequence: int, other: int) -> int:
    """Return the signed distance from `other` to `sequence`, modulo 2^32."""
    return ((sequence - other + (1 << 31)) & MASK) - (1 << 31)
