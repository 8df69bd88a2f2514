"""The part of a node's memory that all nodes may read and write."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from firmware.split_c.host.errors import SplitCError
from firmware.verbs import Host

ALIGN = 8
WORD = 4


class Heap:
    """It is taken from once, in the same order on all nodes, and not given back."""

    def __init__(self, host: Host, size: int) -> None:
        self._host, self._memory, self.size = host, host.allocate(size), size
        self.base = self._memory.address
        self.scratch = 0
        """The first element is the library's own."""
        self.used = ALIGN
        self.stored = 0
        """Bytes that other nodes have stored so far."""

    def take(self, size: int) -> None:
        """The next bytes. Raises SplitCError when there are not so many."""
        if self.used + size > self.size:
            cause = f"{self.size - self.used} bytes of its {self.size} are left"
            raise SplitCError(f"{self._host.who}: {size} bytes of the heap", cause, "give split_c.heap_kb more")
        self.used += -(-size // ALIGN) * ALIGN

    def view(self, at: int, count: int, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
        """Elements in place."""
        return np.frombuffer(self._memory.view, dtype, count, at)

    def words(self, at: int, size: int) -> tuple[int, ...]:
        """An element, as the words in which it travels."""
        return self._host.load_words(self.base + at, size // WORD)

    def keep(self, at: int, words: Sequence[int]) -> None:
        """The same the other way."""
        self._host.store_words(self.base + at, words)


def packed(value: float, dtype: np.dtype[Any]) -> tuple[int, ...]:
    """A number as the words in which it travels. Raises SplitCError for one that the type does not have."""
    try:
        kept = np.array(value).astype(dtype)
        if dtype.kind != "f" and kept != value:
            raise OverflowError
    except (TypeError, ValueError, OverflowError):
        raise SplitCError(f"value {value!r}", f"{dtype} does not have it", "give another value or type") from None
    data = kept.tobytes()
    return tuple(int.from_bytes(data[at : at + WORD], "big") for at in range(0, len(data), WORD))
