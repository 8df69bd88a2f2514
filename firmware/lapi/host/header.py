"""The 48 bytes in front of each packet (paper 001, 6.5.1).

    type (16) | kind (8) | flags (8) | sequence | expected | beyond
    message (16) | bytes of the user header (16) | offset | bytes of the message
    address | counter | completion | first | second

Sequences number the packets of a pair; `expected` and `beyond` acknowledge those of the other direction. The words from
`message` on are the same in all packets of a message, but for the offset of the data. The user header stands behind the
48 bytes of a message's first packet.
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
"""User header and data of a packet."""
MASK = 0xFFFFFFFF
MESSAGES = 1 << 16
"""Numbers of messages of a pair: more than can be on their way."""


class Kind(IntEnum):
    """What a packet is part of [address, counter, completion, first, second]."""

    ACKNOWLEDGE = 0
    """Nothing but an acknowledgement, or the wish for one: it has no sequence of its own."""
    PUT = 1
    """Data for `address`."""
    AMSEND = 2
    """Data for where the header handler at `address` says."""
    GET = 3
    """Asks for `second` bytes at `address`; they go to `first`, and raise the counter `completion` there."""
    DATA = 4
    """Data that were asked for."""
    RMW = 5
    """Change the word at `address` by `first` and `second`; the old one goes to `completion`."""
    PREVIOUS = 6
    """The old one: `first`, for `address`."""
    DONE = 7
    """Raises a counter, that is all."""
    NOTE = 8
    """Part of a collective call: its number is `address`, its kind `completion`, its value `first`."""
    SET = 9
    """Stores the word `first` at `address`."""


class Flag(IntFlag):
    """Of a packet."""

    ASK = 1
    """Acknowledge when all packets up to this sequence are here."""
    NOW = 2
    """Acknowledge what is here now; in an acknowledgement: that is done."""
    FIRST = 4
    """The first packet of its message."""


NONE = Flag(0)


class Header(NamedTuple):
    """Taken apart."""

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
        """As bytes."""
        return FORMAT.pack(TYPE, *self)

    @classmethod
    def of(cls, packet: memoryview) -> Header | None:
        """Of a packet; None: it is none of LAPI."""
        if len(packet) < BYTES:
            return None
        type_of, *fields = FORMAT.unpack_from(packet)
        return cls(*fields) if type_of == TYPE and fields[0] in tuple(Kind) else None


def ahead(sequence: int, other: int) -> int:
    """How far a sequence is ahead of another one; negative: behind."""
    return ((sequence - other + (1 << 31)) & MASK) - (1 << 31)
