"""Endpoints: as the header names them, and as the references of the API do (readings B1).

A VNN has 8 bits, as published, and two more where a cluster has more than 256 nodes (ours): they stand in bits 2 and 3
of the device, which are 0 otherwise.
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
    """The 16-bit endpoint of the header."""
    return (vnn & 0xFF) << 8 | vnn >> 8 << 2 | device


def vnn_of(word: int) -> int:
    """The VNN of an endpoint, in the low 16 bits of a word."""
    return word >> 8 & 0xFF | (word & 0xC) << 6


class Reference(NamedTuple):
    """What the 32-bit endpoint reference of the API says (readings B1)."""

    vnn: int
    device: int
    channel: int

    def pack(self) -> int:
        """The 32 bits. Raises ValueError naming the field that does not fit."""
        for name, limit in (("vnn", MAX_VNN), ("device", 3), ("channel", 0xFFFF)):
            if not 0 <= getattr(self, name) <= limit:
                raise ValueError(f"{name} {getattr(self, name)} is not in 0..{limit}")
        return endpoint(self.vnn, self.device) << 16 | self.channel


def reference(word: int) -> Reference:
    """The parts of a 32-bit endpoint reference."""
    return Reference(vnn_of(word >> 16), word >> 16 & 0xF3, word & 0xFFFF)
