"""Software cache of translations on a NIC, and its miss rates for a benchmark's buffers.

A transfer looks up every page of its buffer in order; each process has its own cache. A miss is compulsory if it is the
first lookup of the page.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields

from pymodels.npb.streams import Traffic, Transfer


@dataclass
class Misses:
    """Counts of look-ups and misses."""

    lookups: int = 0
    send_compulsory: int = 0
    send_other: int = 0
    recv_compulsory: int = 0
    recv_other: int = 0

    @property
    def misses(self) -> int:
        """Total number of misses."""
        return self.send_compulsory + self.send_other + self.recv_compulsory + self.recv_other

    @property
    def rate(self) -> float:
        """Misses per look-up."""
        return self.misses / self.lookups if self.lookups else 0.0

    def add(self, other: Misses, times: int = 1) -> None:
        """Add the counts of another object, multiplied by `times`."""
        for field in fields(self):
            setattr(self, field.name, getattr(self, field.name) + times * getattr(other, field.name))


class TranslationCache:
    """Cache of `sets` x `ways` translations with LRU replacement, indexed by page modulo `sets`.

    An evicted page moves to a victim cache of `victims` pages of any set with FIFO replacement. A page found there
    changes places with the page evicted for it.
    """

    def __init__(self, sets: int, ways: int, victims: int = 0) -> None:
        self.sets, self.ways, self.victims = sets, ways, victims
        self._lines: list[list[int]] = [[] for _ in range(sets)]
        self._victims: list[int] = []
        self._seen: set[int] = set()

    def lookup(self, page: int) -> bool:
        """Look up a page and insert it. Return True for a hit."""
        line = self._lines[page % self.sets]
        if line and line[0] == page:
            return True
        there = page in line
        if there:
            line.remove(page)
        else:
            there = self._missed(page, line)
        line.insert(0, page)
        return there

    def _missed(self, page: int, line: list[int]) -> bool:
        """Make room for a page in its set. Return True if the page is among the victims."""
        kept = page in self._victims
        if kept:
            self._victims.remove(page)
        if len(line) == self.ways:
            self._victims.insert(0, line.pop())
            del self._victims[self.victims :]
        return kept

    def run(self, transfers: Iterable[Transfer]) -> Misses:
        """Look up every page of the transfers and return the counts."""
        found, seen = Misses(), self._seen
        for transfer in transfers:
            pages = transfer.pages()
            found.lookups += len(pages)
            missed = [page for page in pages if not self.lookup(page)]
            new = sum(page not in seen for page in missed)
            seen.update(missed)
            if transfer.send:
                found.send_compulsory += new
                found.send_other += len(missed) - new
            else:
                found.recv_compulsory += new
                found.recv_other += len(missed) - new
        return found

    def state(self) -> tuple[tuple[int, ...], ...]:
        """Return the content in order of use."""
        return (*map(tuple, self._lines), tuple(self._victims))


def miss_rates(process: Traffic, sets: int, ways: int, victims: int = 0) -> Misses:
    """Return the counts of a whole run of one process.

    All iterations are equal: if one leaves the cache unchanged, so do all later ones, with the same number of misses.
    """
    cache = TranslationCache(sets, ways, victims)
    total = cache.run(process.setup)
    for iteration in range(process.iterations):
        before = cache.state()
        found = cache.run(process.step)
        total.add(found)
        if cache.state() == before:
            total.add(found, process.iterations - iteration - 1)
            break
    return total
