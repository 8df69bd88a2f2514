"""The ring of a completion queue: the NIC writes an entry for each completion (paper 001, 2.2.4: CQ1)."""

from __future__ import annotations

from firmware.via.host.common.errors import Result, VipError
from firmware.via.nic.layout import ROUND, ROUNDS
from pymodels.host.process import Process

MOST_ENTRIES = 1024
"""Words in a page: the NIC knows a queue by one physical address (ours)."""
VI, SIDE = 0xFF, 8
"""Bits of an entry that name a VI, and where those of the side begin. VI 0 is no process's."""


class EntryRing:
    """A ring of words in a page of a process, which the NIC writes."""

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
        """What stands there; 0: nothing yet."""
        return self._process.load_words(self.place, 1)[0]

    def take(self) -> int:
        """Take it. Raises VipError when the NIC has gone round the ring over entries that nobody had taken: those that
        are left are forgotten.
        """
        word = self.word
        if word >> ROUND & ROUNDS != self._round:
            self._forget_all()
            remedy = "look at all its work queues, and make it as large as all that is posted on them"
            raise VipError(Result.ERROR_RESOURCE, f"a completion queue of {self.entries} entries is overrun", remedy)
        self._process.store_words(self.place, (0,))  # at once: no other thread takes it too
        self._step()
        return word & (1 << ROUND) - 1

    def _step(self) -> None:
        self._next = (self._next + 1) % self.entries
        self._round = self._round + (not self._next) & ROUNDS

    def _forget_all(self) -> None:
        """Go on where the NIC writes next: behind the entries of its last round."""
        words = self._process.load_words(self._va, self.entries)
        last = words[0] >> ROUND & ROUNDS  # who has gone round has written it
        count = sum(bool(word) and word >> ROUND & ROUNDS == last for word in words)
        self._process.store_words(self._va, [0] * self.entries)
        self._next, self._round = count - 1, last
        self._step()

    def forget(self, vi: int) -> None:
        """Invalidate the entries of a VI."""
        words = self._process.load_words(self._va, self.entries)
        self._process.store_words(self._va, [word & ~VI if word & VI == vi else word for word in words])

    def release(self) -> None:
        """Free its memory; the NIC no longer writes it."""
        self._process.unpin(self._va, 4 * self.entries)
        self._process.free(self._va, 4 * self.entries)
