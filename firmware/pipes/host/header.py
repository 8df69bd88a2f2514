"""The header of a packet of Pipes: 16 bytes. Positions count the bytes of a stream, modulo 2^32.

| bytes | field |
|---|---|
| 0 | type |
| 2 | flags: `DIRECT`, `ASKS` |
| 4 | position: of the first byte behind the header |
| 8 | come: of the stream back, everything before this position is here |
| 12 | room: of the stream back, bytes before this position may be sent |
"""

from __future__ import annotations

from struct import Struct
from typing import NamedTuple

from firmware.hal.host.interface import MOST

PROTOCOL = 1
"""HAL's number for it."""
TYPE = 0x5049
LAYOUT = Struct(">HHIII")
DIRECT = 1
"""The bytes were not copied into the sender's pipe, and need not be copied into the receiver's."""
ASKS = 2
"""It is to be answered at once."""
DATA = MOST - LAYOUT.size
"""Bytes of a packet behind the header at most."""
WRAP = 1 << 32


class Header(NamedTuple):
    """The fields but the type."""

    flags: int
    position: int
    come: int
    room: int

    def packed(self) -> bytes:
        """As it stands in a packet."""
        return LAYOUT.pack(TYPE, self.flags, self.position % WRAP, self.come % WRAP, self.room % WRAP)

    @classmethod
    def of(cls, data: memoryview) -> Header | None:
        """The header in the first bytes of a packet; None: it is none of Pipes."""
        if len(data) < LAYOUT.size:
            return None
        type_of, *fields = LAYOUT.unpack_from(data)
        return cls(*fields) if type_of == TYPE else None


def near(low: int, known: int) -> int:
    """The position whose lowest 32 bits these are, nearest to one that is known."""
    return known + (low - known + WRAP // 2) % WRAP - WRAP // 2
