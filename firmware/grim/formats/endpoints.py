"""Endpoints in headers, and endpoint references of the API (readings B1).

A VNN has 8 bits, as published, and two more in clusters of more than 256 nodes (ours). The two are in bits 2 and 3 of
the device, which are otherwise 0.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from pymodels.codes import quick

MAX_VNN = 1023


@quick
class Device(IntEnum):
    """Kinds of endpoints (8 bits of a reference; ours)."""

    HOST = 0
    NI = 1
    CELOXICA = 2
    FRAME_BUFFER = 3


def endpoint(vnn: int, device: int) -> int:
    """Return the 16-bit endpoint of a header."""
    return (vnn & 0xFF) << 8 | vnn >> 8 << 2 | device


def vnn_of(word: int) -> int:
    """Return the VNN of the endpoint in the low 16 bits of a word."""
    return word >> 8 & 0xFF | (word & 0xC) << 6


class Reference(NamedTuple):
    """Fields of a 32-bit endpoint reference of the API (readings B1)."""

    vnn: int
    device: int
    channel: int

    def pack(self) -> int:
        """Return the 32-bit reference. Raises ValueError naming a field that is out of range."""
        for name, limit in (("vnn", MAX_VNN), ("device", 3), ("channel", 0xFFFF)):
            if not 0 <= getattr(self, name) <= limit:
                raise ValueError(f"{name} {getattr(self, name)} is not in 0..{limit}")
        return endpoint(self.vnn, self.device) << 16 | self.channel


def reference(word: int) -> Reference:
    """Return the fields of a 32-bit endpoint reference."""
    return Reference(vnn_of(word >> 16), word >> 16 & 0xF3, word & 0xFFFF)
