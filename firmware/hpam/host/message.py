"""A message as it stands in the card's buffers: a header of 20 bytes, arguments, data."""

from __future__ import annotations

import struct
from typing import NamedTuple

from firmware.nics.fifo.buffers import ALIGN
from pymodels.nics.fifo.registers import Size

FORMAT = struct.Struct(">HBBIIBBHHH")
"""Type, source, number, key of the program, address of the handler, kind and slot, arguments, sequence, bytes of data,
0.
"""
TYPE = 0x0F2F
ARGUMENTS = 8
MOST = Size.BUFFER - 2 * ALIGN - FORMAT.size - 4 * ARGUMENTS
"""Bytes of data: two words are for the route."""
SLOTS = 4
"""Requests to a node that are not answered: it has so many request buffers, and as many reply buffers (paper 002)."""


class Header(NamedTuple):
    """What stands before arguments and data."""

    type: int
    source: int
    number: int
    """Of the message at its source; tells packets apart in the trace."""
    key: int
    """Of the parallel program."""
    handler: int
    """Address; 0: none, a reply that only says that the request has been handled."""
    kind_slot: int
    arguments: int
    sequence: int
    """Of the request in its slot; a reply has that of its request."""
    data: int
    unused: int = 0

    @property
    def kind(self) -> int:
        """What it is."""
        return self.kind_slot >> 4

    @property
    def slot(self) -> int:
        """The request buffer of its sender, or of the sender of what it answers."""
        return self.kind_slot & 0xF

    @property
    def body(self) -> int:
        """Bytes behind the header."""
        return min(4 * self.arguments + self.data, 4 * ARGUMENTS + MOST)

    @property
    def trace(self) -> int:
        """By what the trace knows it."""
        return self.type << 16 | self.source << 8 | self.number

    def packed(self) -> bytes:
        """As it travels."""
        return FORMAT.pack(*self)

    @classmethod
    def of(cls, data: bytes | memoryview) -> Header:
        """Of the first bytes of a message."""
        return cls(*FORMAT.unpack(data[: FORMAT.size]))
