"""Ring of a completion queue, in which the NIC writes an entry for each completion (paper 001, 2.2.4: CQ1)."""

from __future__ import annotations

from firmware.via.host.common.errors import Result, VipError
from firmware.via.nic.layout import ROUND, ROUNDS
from pymodels.host.process import Process

MOST_ENTRIES = 1024
"""Maximum number of entries: one page, because the NIC has one physical address of a queue (not from the paper)."""
VI, SIDE = 0xFF, 8
"""Mask of the VI in an entry, and position of the work queue. VI 0 belongs to no process."""


class EntryRing:
    """Ring of words in a page of a process, written by the NIC."""

    def __init__(self, process: Process, entries: int) -> None:
        self._process, self.entries = process, entries
        self._va = process.allocate(4 * entries)
        (self.physical,) = process.pin(self._va, 4 * entries)
        self._next = self._round = 0

    @property
    def place(self) -> int:
        """Virtual address of the next entry."""
        return self._va + 4 * self._next

    @property
    def word(self) -> int:
        """Next entry, or 0 if it is not written."""
        return self._process.load_words(self.place, 1)[0]

    def take(self) -> int:
        """Remove and return the next entry.

        Raises VipError if the NIC has overwritten entries that were not taken. All remaining entries are then
        discarded.
        """
        word = self.word
        if word >> ROUND & ROUNDS != self._round:
            self._forget_all()
            remedy = "check all its work queues, and make it large enough for all their descriptors"
            raise VipError(Result.ERROR_RESOURCE, f"overrun of a completion queue of {self.entries} entries", remedy)
        self._process.store_words(self.place, (0,))  # before any wait, so that no other thread takes it
        self._step()
        return word & (1 << ROUND) - 1

    def _step(self) -> None:
        self._next = (self._next + 1) % self.entries
        self._round = self._round + (not self._next) & ROUNDS

    def _forget_all(self) -> None:
        """Advance to the NIC's next position, after the entries of its last round."""
        words = self._process.load_words(self._va, self.entries)
        last = words[0] >> ROUND & ROUNDS  # an overrun has rewritten the first word
        count = sum(bool(word) and word >> ROUND & ROUNDS == last for word in words)
        self._process.store_words(self._va, [0] * self.entries)
        self._next, self._round = count - 1, last
        self._step()

    def forget(self, vi: int) -> None:
        """Invalidate the entries of a VI."""
        words = self._process.load_words(self._va, self.entries)
        self._process.store_words(self._va, [word & ~VI if word & VI == vi else word for word in words])

    def release(self) -> None:
        """Free the memory, which the NIC no longer writes."""
        self._process.unpin(self._va, 4 * self.entries)
        self._process.free(self._va, 4 * self.entries)
