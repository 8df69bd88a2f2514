"""Segment of an AM-II process: constant bytes, a slice for the puts of each process, and places for gets."""

from __future__ import annotations

from random import Random
from typing import Any

OFFSETS = (0, 4, 1000, 8192)
SIZES = (0, 1, 512, 513, 3000, 8192, 17000)
SLICE = max(OFFSETS) + max(SIZES)


class Segment:
    """Segment of one process, with a slice for each process of its program."""

    def __init__(self, process: Any, node: int, nodes: int) -> None:
        self._process = process
        self.size = (nodes + 2) * SLICE
        self.at: int = process.allocate(self.size)
        self.image = bytearray(Random(node).randbytes(SLICE)) + bytes(self.size - SLICE)
        """Expected content."""
        process.store_bytes(self.at, bytes(self.image))

    def slice(self, node: int, at: int) -> int:
        """Return the address of a node's slice."""
        return (node + 1) * SLICE + at

    def landing(self, at: int) -> int:
        """Return the address of a place for a get."""
        return self.size - SLICE + at

    def due(self, at: int, data: bytes) -> None:
        """Expect bytes at an address."""
        self.image[at : at + len(data)] = data

    def bytes(self, at: int, size: int) -> bytes:
        """Return the current bytes at an address."""
        return bytes(self._process.load_bytes(self.at + at, size)) if size else b""

    def wrong(self) -> list[str]:
        """Return a description of each difference from the expected content."""
        now = self.bytes(0, self.size)
        if now == bytes(self.image):
            return []
        differ = [at for at in range(self.size) if now[at] != self.image[at]]
        return [f"{len(differ)} bytes differ, first at {differ[0] % SLICE} of slice {differ[0] // SLICE}"]
