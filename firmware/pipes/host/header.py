"""Packet header of Pipes: 16 bytes. Positions count the bytes of a stream, modulo 2^32.

| bytes | field |
|---|---|
| 0 | type |
| 2 | flags: `DIRECT`, `ASKS` |
| 4 | position: of the first byte behind the header |
| 8 | come: all bytes of the reverse stream before this position have arrived |
| 12 | room: bytes of the reverse stream before this position may be sent |
"""

from __future__ import annotations

from struct import Struct
from typing import NamedTuple

from firmware.hal.host.interface import MOST

PROTOCOL = 1
"""Protocol number on HAL."""
TYPE = 0x5049
LAYOUT = Struct(">HHIII")
DIRECT = 1
"""Flag: the bytes bypassed the sender's pipe and may bypass the receiver's."""
ASKS = 2
"""Flag: the packet requests an immediate acknowledgement."""
DATA = MOST - LAYOUT.size
"""Largest data size of a packet, bytes."""
WRAP = 1 << 32


class Header(NamedTuple):
    """Header fields without the type."""

    flags: int
    position: int
    come: int
    room: int

    def packed(self) -> bytes:
        """Return the encoded header."""
        return LAYOUT.pack(TYPE, self.flags, self.position % WRAP, self.come % WRAP, self.room % WRAP)

    @classmethod
    def decode(cls, data: memoryview) -> Header | None:
        """Decode the header of a packet; None if the packet is not one of Pipes."""
        if len(data) < LAYOUT.size:
            return None
        type_of, *fields = LAYOUT.unpack_from(data)
        return cls(*fields) if type_of == TYPE else None


def near(low: int, known: int) -> int:
    """Return the position nearest to `known` whose lowest 32 bits are `low`."""
    return known + (low - known + WRAP // 2) % WRAP - WRAP // 2
