"""Message format in buffers and cells: a header of 16 bytes, arguments, data."""

from __future__ import annotations

import struct
from typing import NamedTuple

FORMAT = struct.Struct(">IIBBBBHH")
"""Key of the program, handler address, source, destination, kind, number of arguments, data bytes, 0."""
SLOT = 2048
"""Bytes of a message buffer (ours)."""
ARGUMENTS = 8
MOST = SLOT - FORMAT.size - 4 * ARGUMENTS
"""Largest data size in bytes."""


class Header(NamedTuple):
    """Header of a message."""

    key: int
    """Key of the parallel program; written by the kernel, as is the source."""
    handler: int
    """Handler address; 0: a reply without handler."""
    source: int
    destination: int
    kind: int
    arguments: int
    data: int
    unused: int = 0

    @property
    def size(self) -> int:
        """Size of the whole message in bytes."""
        return FORMAT.size + 4 * self.arguments + self.data

    def packed(self) -> bytes:
        """Return the encoded header."""
        return FORMAT.pack(*self)

    @classmethod
    def decode(cls, data: bytes | memoryview) -> Header:
        """Decode the header of a message."""
        return cls(*FORMAT.unpack(data[: FORMAT.size]))
