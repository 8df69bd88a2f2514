"""A message as it stands in buffers and travels in cells: a header of 16 bytes, arguments, data."""

from __future__ import annotations

import struct
from typing import NamedTuple

FORMAT = struct.Struct(">IIBBBBHH")
"""Key of the program, address of the handler, source, destination, kind, arguments, bytes of data, 0."""
SLOT = 2048
"""A buffer for a message (ours)."""
ARGUMENTS = 8
MOST = SLOT - FORMAT.size - 4 * ARGUMENTS
"""Bytes of data."""


class Header(NamedTuple):
    """What stands before arguments and data."""

    key: int
    """Of the parallel program; the kernel writes it, and the source."""
    handler: int
    """Address; 0: none, a reply that only says that the request has been handled."""
    source: int
    destination: int
    kind: int
    arguments: int
    data: int
    unused: int = 0

    @property
    def size(self) -> int:
        """Bytes of the whole message."""
        return FORMAT.size + 4 * self.arguments + self.data

    def packed(self) -> bytes:
        """As it travels."""
        return FORMAT.pack(*self)

    @classmethod
    def of(cls, data: bytes | memoryview) -> Header:
        """Of the first bytes of a message."""
        return cls(*FORMAT.unpack(data[: FORMAT.size]))
