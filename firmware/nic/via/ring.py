"""A queue cache as the NIC sees it: a ring of words that the host fills (paper 001, 3.2.2)."""

from __future__ import annotations

from firmware.verbs import Nic

MASK = 0xFFFFFFFF


class Ring:
    """Words at `base`; `head` and `tail` are the SRAM addresses of the two counters."""

    def __init__(self, nic: Nic, base: int, words: int, tail: int, head: int) -> None:
        self._nic, self._base, self._size = nic, base, words
        self._tail, self._head = tail, head
        self.at = 0
        """How many words were read."""
        self._freed = 0

    @property
    def tail(self) -> int:
        """The host's counter."""
        return self._nic.load(self._tail)

    @property
    def ready(self) -> int:
        """Words that are there and not read."""
        return self.tail - self.at & MASK

    def take(self, count: int) -> tuple[int, ...]:
        """Read the next words."""
        first, size = self.at % self._size, self._size
        self.at = self.at + count & MASK
        part = min(count, size - first)
        words = self._nic.load_words(self._base + 4 * first, part)
        return words if part == count else words + self._nic.load_words(self._base, count - part)

    def free(self) -> None:
        """What was read is no longer needed: tell the host."""
        self._freed = self.at
        self._nic.store(self._head, self.at)

    def back(self) -> None:
        """Read again what was not freed."""
        self.at = self._freed

    def reset(self) -> None:
        """Forget all that is there."""
        self.at = self.tail
        self.free()

    @property
    def crowded(self) -> bool:
        """More than half of the ring is read and not freed: what a list still lacks may have no room."""
        return 2 * (self.at - self._freed & MASK) > self._size
