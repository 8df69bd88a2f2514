"""Payload of a message: bytes of the program, or a range of host memory that the NIC fetches by DMA."""

from __future__ import annotations

from typing import NamedTuple


class MemoryRange(NamedTuple):
    """Range of pinned host memory that the NIC fetches by DMA, without a copy by the CPU."""

    address: int
    """Physical address."""
    size: int
    """Size in bytes."""


Data = bytes | bytearray | memoryview | MemoryRange


def size_of(data: Data) -> int:
    """Return the size of a payload in bytes."""
    return data.size if isinstance(data, MemoryRange) else len(data)
