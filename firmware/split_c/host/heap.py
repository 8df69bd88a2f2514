"""Memory of a node that all nodes may read and write."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from firmware.split_c.host.errors import SplitCError
from firmware.verbs import Host

ALIGN = 8
WORD = 4


class Heap:
    """Heap of one node. All nodes allocate in the same order; memory is not freed."""

    def __init__(self, host: Host, size: int) -> None:
        self._host, self._memory, self.size = host, host.allocate(size), size
        self.base = self._memory.address
        self.scratch = 0
        """Offset of the first element, which the library uses itself."""
        self.used = ALIGN
        self.stored = 0
        """Number of bytes stored by other nodes."""

    def allocate(self, size: int) -> None:
        """Allocate bytes. Raises SplitCError if too few are left."""
        if self.used + size > self.size:
            cause = f"{self.size - self.used} of its {self.size} bytes are left"
            raise SplitCError(f"{self._host.who}: {size} bytes of the heap", cause, "increase split_c.heap_kb")
        self.used += -(-size // ALIGN) * ALIGN

    def view(self, at: int, count: int, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
        """Return elements of the heap in place."""
        return np.frombuffer(self._memory.view, dtype, count, at)

    def load(self, at: int, size: int) -> tuple[int, ...]:
        """Return the words of an element."""
        return self._host.load_words(self.base + at, size // WORD)

    def store(self, at: int, words: Sequence[int]) -> None:
        """Store the words of an element."""
        self._host.store_words(self.base + at, words)


def packed(value: float, dtype: np.dtype[Any]) -> tuple[int, ...]:
    """Return a number as the words of its element. Raises SplitCError if the type cannot represent it."""
    try:
        kept = np.array(value).astype(dtype)
        if dtype.kind != "f" and kept != value:
            raise OverflowError
    except (TypeError, ValueError, OverflowError):
        raise SplitCError(f"value {value!r}", f"{dtype} cannot represent it", "give another value or type") from None
    data = kept.tobytes()
    return tuple(int.from_bytes(data[at : at + WORD], "big") for at in range(0, len(data), WORD))
