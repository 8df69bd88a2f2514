"""A queue cache as the NIC sees it: a ring of words that the host fills (paper 001, 3.2.2)."""

from __future__ import annotations

from firmware.verbs import Nic
from firmware.via.nic.user_pages import HANDLES

MASK = 0xFFFFFFFF


class QueueCache:
    """Words at `base`; `head` and `tail` are the SRAM addresses of the two counters, `flag` that of the word which says
    that more waits at the host (0: there is none). `user`: it is a process's, whose words may be anything.
    `told`: the tail comes by doorbell.
    """

    def __init__(
        self,
        nic: Nic,
        base: int,
        words: int,
        tail: int,
        head: int,
        flag: int = 0,
        vi: int = 0,
        user: bool = False,
        told: bool = False,
    ) -> None:
        self.flag, self.vi, self.user = flag, vi, user
        self.least = 1 if user else 3
        """Words of the shortest descriptor: a user's, or a physical one."""
        self.handles = [0] * HANDLES
        """A user's: memory handles of descriptors that are fetched, by their numbers."""
        self._nic, self._base, self.size = nic, base, words
        self.tail_at, self._head = tail, head
        self._told: int | None = 0 if told else None
        self.at = 0
        """How many words were read."""
        self._freed = 0

    @property
    def tail(self) -> int:
        """The host's counter."""
        return self._nic.load(self.tail_at) if self._told is None else self._told

    @property
    def told(self) -> bool:
        """The host's counter comes by doorbell."""
        return self._told is not None

    def tell(self, tail: int) -> None:
        """The host's counter came by a doorbell."""
        self._told = tail

    def move(self, tail: int, head: int) -> None:
        """The counters stand elsewhere."""
        self.tail_at, self._head = tail, head

    def restart(self) -> None:
        """A new owner, who counts from 0."""
        self.at = self._freed = 0
        self.handles = [0] * HANDLES
        if self._told is not None:
            self._told = 0

    @property
    def ready(self) -> int:
        """Words that are there and not read."""
        return self.tail - self.at & MASK

    def take(self, count: int) -> tuple[int, ...]:
        """Read the next words."""
        first, size = self.at % self.size, self.size
        self.at = self.at + count & MASK
        part = min(count, size - first)
        words = self._nic.load_words(self._base + 4 * first, part)
        return words if part == count else words + self._nic.load_words(self._base, count - part)

    def peek(self) -> int:
        """The next word."""
        return self._nic.load(self._base + 4 * (self.at % self.size))

    def free(self) -> None:
        """What was read is no longer needed: tell the host."""
        self._freed = self.at
        self._nic.store_on(self._head, (self.at,))

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
        return 2 * (self.at - self._freed & MASK) > self.size


class CentralCache(QueueCache):
    """The cache of the central send queue, in which the kernel posts for all VIs."""

    ended = False
    """A message of it has ended, and the polling loop has not looked what is left behind it."""
