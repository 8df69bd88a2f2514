"""Endpoints: as the header names them, and as the references of the API do (readings B1)."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from pymodels.codes import quick

MAX_VNN = 255


@quick
class Device(IntEnum):
    """Kinds of endpoints (8 bits of a reference; ours)."""

    HOST = 0
    NI = 1
    CELOXICA = 2
    FRAME_BUFFER = 3


def endpoint(vnn: int, device: int) -> int:
    """The 16-bit endpoint of the header."""
    return vnn << 8 | device


class Reference(NamedTuple):
    """What the 32-bit endpoint reference of the API says (readings B1)."""

    vnn: int
    device: int
    channel: int

    def pack(self) -> int:
        """The 32 bits. Raises ValueError naming the field that does not fit."""
        for name, limit in (("vnn", MAX_VNN), ("device", 0xFF), ("channel", 0xFFFF)):
            if not 0 <= getattr(self, name) <= limit:
                raise ValueError(f"{name} {getattr(self, name)} is not in 0..{limit}")
        return self.vnn << 24 | self.device << 16 | self.channel


def reference(word: int) -> Reference:
    """The parts of a 32-bit endpoint reference."""
    return Reference(word >> 24 & 0xFF, word >> 16 & 0xFF, word & 0xFFFF)
