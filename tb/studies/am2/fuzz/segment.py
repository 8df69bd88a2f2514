"""The segment of a process of AM-II: bytes that nobody changes, places for what others put, and for what it gets."""

from __future__ import annotations

from random import Random
from typing import Any

OFFSETS = (0, 4, 1000, 8192)
SIZES = (0, 1, 512, 513, 3000, 8192, 17000)
SLICE = max(OFFSETS) + max(SIZES)


class Segment:
    """Of one process; each process of its program has a slice in it."""

    def __init__(self, process: Any, node: int, nodes: int) -> None:
        self._process = process
        self.size = (nodes + 2) * SLICE
        self.at: int = process.allocate(self.size)
        self.image = bytearray(Random(node).randbytes(SLICE)) + bytes(self.size - SLICE)
        """As it must be."""
        process.store_bytes(self.at, bytes(self.image))

    def slice(self, node: int, at: int) -> int:
        """The place of what a node puts."""
        return (node + 1) * SLICE + at

    def landing(self, at: int) -> int:
        """The place of what is got."""
        return self.size - SLICE + at

    def due(self, at: int, data: bytes) -> None:
        """Bytes must come there."""
        self.image[at : at + len(data)] = data

    def bytes(self, at: int, size: int) -> bytes:
        """What stands there now."""
        return bytes(self._process.load_bytes(self.at + at, size)) if size else b""

    def wrong(self) -> list[str]:
        """What is not as it must be."""
        now = self.bytes(0, self.size)
        if now == bytes(self.image):
            return []
        differ = [at for at in range(self.size) if now[at] != self.image[at]]
        return [f"{len(differ)} bytes differ, first at {differ[0] % SLICE} of slice {differ[0] // SLICE}"]
