"""Memories behind a PCI target."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable


@runtime_checkable
class Memory(Protocol):
    """Memory of a target; offsets count from the start of its window."""

    def read(self, offset: int, length: int) -> bytes:
        """Return bytes."""

    def write(self, offset: int, data: bytes) -> None:
        """Store bytes."""


class BufferMemory:
    """Memory in a writable buffer, such as a bytearray or a numpy array."""

    def __init__(self, buffer: Any) -> None:
        self._view = memoryview(buffer).cast("B")

    def __len__(self) -> int:
        return len(self._view)

    def read(self, offset: int, length: int) -> bytes:
        """Return bytes; zeros beyond the end."""
        return bytes(self._view[offset : offset + length]).ljust(length, b"\0")

    def write(self, offset: int, data: bytes) -> None:
        """Store bytes; bytes beyond the end are lost."""
        kept = data[: max(0, len(self._view) - offset)]
        self._view[offset : offset + len(kept)] = kept


def write_lanes(memory: Memory, offset: int, value: int, enables: int, size: int) -> None:
    """Store the enabled bytes of a data phase of `size` bytes."""
    data, start = value.to_bytes(size, "little"), 0
    for lane in range(size + 1):
        if not enables >> lane & 1:
            if lane > start:
                memory.write(offset + start, data[start:lane])
            start = lane + 1
