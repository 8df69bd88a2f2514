"""What a message may have as payload."""

from __future__ import annotations

from typing import NamedTuple


class Stretch(NamedTuple):
    """Bytes that stand in host memory, from where the NIC fetches them."""

    address: int
    """Physical."""
    size: int


Data = bytes | bytearray | memoryview | Stretch


def size_of(data: Data) -> int:
    """Bytes."""
    return data.size if isinstance(data, Stretch) else len(data)
