"""Payload types of a message."""

from __future__ import annotations

from typing import NamedTuple


class Stretch(NamedTuple):
    """Range of host memory that the NIC fetches by DMA, without a copy."""

    address: int
    """Physical address."""
    size: int


Data = bytes | bytearray | memoryview | Stretch


def size_of(data: Data) -> int:
    """Return the size of a payload in bytes."""
    return data.size if isinstance(data, Stretch) else len(data)
