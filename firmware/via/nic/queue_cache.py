"""Queue cache as the NIC sees it: a ring of words that the host fills (paper 001, 3.2.2)."""

from __future__ import annotations

from firmware.verbs import Nic
from firmware.via.nic.user_pages import HANDLES

MASK = 0xFFFFFFFF


class QueueCache:
    """Ring of words in SRAM.

    Args:
        nic: NIC that runs the firmware.
        base: SRAM address of the ring.
        words: Size of the ring.
        tail: SRAM address of the host's counter.
        head: SRAM address of the NIC's counter.
        flag: SRAM address of the word that is set while more descriptors wait at the host; 0 for none.
        vi: Number of the VI.
        user: True if a process writes the ring, which may then contain anything.
        tail_by_doorbell: True if the tail arrives by doorbell.
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
        tail_by_doorbell: bool = False,
    ) -> None:
        self.flag, self.vi, self.user = flag, vi, user
        self.least = 1 if user else 3
        """Words of the shortest descriptor: a user's, or a physical one."""
        self.handles = [0] * HANDLES
        """Memory handles of fetched user descriptors, by their numbers."""
        self._nic, self._base, self.size = nic, base, words
        self.tail_at, self._head = tail, head
        self._doorbell_tail: int | None = 0 if tail_by_doorbell else None
        self.at = 0
        """Number of words read."""
        self._freed = 0

    @property
    def tail(self) -> int:
        """Counter of the host."""
        return self._nic.load(self.tail_at) if self._doorbell_tail is None else self._doorbell_tail

    @property
    def tail_by_doorbell(self) -> bool:
        """True if the host's counter arrives by doorbell."""
        return self._doorbell_tail is not None

    def set_tail(self, tail: int) -> None:
        """Set the host's counter, which arrived by doorbell."""
        self._doorbell_tail = tail

    def move(self, tail: int, head: int) -> None:
        """Set new SRAM addresses of the counters."""
        self.tail_at, self._head = tail, head

    def restart(self) -> None:
        """Start again for a new owner, who counts from 0."""
        self.at = self._freed = 0
        self.handles = [0] * HANDLES
        if self._doorbell_tail is not None:
            self._doorbell_tail = 0

    @property
    def ready(self) -> int:
        """Number of words available and not read."""
        return self.tail - self.at & MASK

    def take(self, count: int) -> tuple[int, ...]:
        """Read the next words."""
        first, size = self.at % self.size, self.size
        self.at = self.at + count & MASK
        part = min(count, size - first)
        words = self._nic.load_words(self._base + 4 * first, part)
        return words if part == count else words + self._nic.load_words(self._base, count - part)

    def peek(self) -> int:
        """Return the next word without reading it."""
        return self._nic.load(self._base + 4 * (self.at % self.size))

    def free(self) -> None:
        """Free the words read so far, and publish the count to the host."""
        self._freed = self.at
        self._nic.store_on(self._head, (self.at,))

    def back(self) -> None:
        """Go back to the first word that is not freed."""
        self.at = self._freed

    def reset(self) -> None:
        """Discard all available words."""
        self.at = self.tail
        self.free()

    @property
    def crowded(self) -> bool:
        """True if more than half of the ring is read and not freed, so that the rest of a list may lack room."""
        return 2 * (self.at - self._freed & MASK) > self.size


class CentralCache(QueueCache):
    """Cache of the central send queue, in which the kernel posts for all VIs."""

    ended = False
    """True after the end of a message, until the polling loop has been set to see the rest of the queue."""
