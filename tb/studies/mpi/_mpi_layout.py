"""Buffers of random programs: the byte layout of datatypes, independent of MPI's code."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from firmware.mpi.host import Mpi

LAYOUTS: Mapping[str, tuple[tuple[tuple[int, int], ...], int]] = MappingProxyType(
    {
        "bytes": (((0, 1),), 1),
        "vector": (((0, 4), (7, 4), (14, 4)), 18),
        "indexed": (((0, 5), (8, 1), (20, 6)), 26),
        "struct": (((0, 4), (16, 8)), 24),
    }
)
"""Blocks (offset, length) of an element and its extent, in bytes. All but the first hold 12 bytes."""
GAP = 0xEE
"""Initial value of a buffer, which must stay where no data belong."""


def types_of(mpi: Mpi) -> dict[str, Any]:
    """Return the committed datatypes."""
    byte = mpi.BYTE
    return {
        "bytes": byte,
        "vector": byte.Create_vector(3, 4, 7).Commit(),
        "indexed": byte.Create_indexed([5, 1, 6], [0, 8, 20]).Commit(),
        "struct": byte.Create_struct([4, 8], [0, 16], [byte, byte]).Commit(),
    }


@dataclass
class Room:
    """Buffer for elements of a datatype."""

    kind: str
    cells: bytearray

    @classmethod
    def for_bytes(cls, kind: str, data: int) -> Room:
        """Return a buffer for at least a number of data bytes."""
        blocks, extent = LAYOUTS[kind]
        return cls(kind, bytearray([GAP]) * (-(-data // sum(length for _, length in blocks)) * extent))

    @property
    def count(self) -> int:
        """Number of elements."""
        return len(self.cells) // LAYOUTS[self.kind][1]

    @property
    def most(self) -> int:
        """Data bytes that the buffer holds."""
        return self.count * sum(length for _, length in LAYOUTS[self.kind][0])

    def places(self, size: int) -> NDArray[np.intp]:
        """Return the offsets of the first data bytes."""
        blocks, extent = LAYOUTS[self.kind]
        element = np.array([at + byte for at, length in blocks for byte in range(length)])
        places: NDArray[np.intp] = (np.arange(self.count)[:, None] * extent + element).ravel()
        return places[:size]

    def store(self, data: bytes) -> None:
        """Store data at their offsets."""
        self._array[self.places(len(data))] = np.frombuffer(data, np.uint8)

    def load(self, size: int) -> tuple[bytes, bool]:
        """Return the first data bytes, and True if the rest is unchanged."""
        places, rest = self.places(size), self._array.copy()
        rest[places] = GAP
        return self._array[places].tobytes(), bool((rest == GAP).all())

    @property
    def _array(self) -> NDArray[np.uint8]:
        return np.frombuffer(self.cells, np.uint8)

    def clear(self) -> None:
        """Reset the buffer to its initial value."""
        self.cells[:] = bytes([GAP]) * len(self.cells)

    def spoil(self) -> None:
        """Overwrite the buffer, as a program may after its send."""
        self.cells[:] = bytes([GAP ^ 0xFF]) * len(self.cells)
