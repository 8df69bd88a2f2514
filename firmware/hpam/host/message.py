"""Message format in the card's buffers: a header of 20 bytes, arguments, data."""

from __future__ import annotations

import struct
from typing import NamedTuple

from firmware.nics.fifo.buffers import ALIGN
from pymodels.nics.fifo.registers import Size

FORMAT = struct.Struct(">HBBIIBBHHH")
"""Type, source, number, key of the program, handler address, kind and slot, arguments, sequence, data bytes, 0."""
TYPE = 0x0F2F
ARGUMENTS = 8
MOST = Size.BUFFER - 2 * ALIGN - FORMAT.size - 4 * ARGUMENTS
"""Largest data size in bytes; two words of a buffer are for the route."""
SLOTS = 4
"""Outstanding requests to a node: its number of request buffers, and of reply buffers (paper 002)."""


class Header(NamedTuple):
    """Header of a message."""

    type: int
    source: int
    number: int
    """Message number at the source; distinguishes packets in the trace."""
    key: int
    """Key of the parallel program."""
    handler: int
    """Handler address; 0: a reply without handler."""
    kind_slot: int
    arguments: int
    sequence: int
    """Sequence number of the request in its slot; a reply has that of its request."""
    data: int
    unused: int = 0

    @property
    def kind(self) -> int:
        """Kind of the message."""
        return self.kind_slot >> 4

    @property
    def slot(self) -> int:
        """Request buffer of the requesting node."""
        return self.kind_slot & 0xF

    @property
    def body(self) -> int:
        """Number of bytes after the header."""
        return min(4 * self.arguments + self.data, 4 * ARGUMENTS + MOST)

    @property
    def trace(self) -> int:
        """Trace key of the message."""
        return self.type << 16 | self.source << 8 | self.number

    def packed(self) -> bytes:
        """Return the encoded header."""
        return FORMAT.pack(*self)

    @classmethod
    def decode(cls, data: bytes | memoryview) -> Header:
        """Decode the header of a message."""
        return cls(*FORMAT.unpack(data[: FORMAT.size]))
