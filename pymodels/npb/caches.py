"""A NIC's software cache of translations, and how often a benchmark's buffers miss it.

A transfer looks up every page of its buffer, in order; a process has a cache to itself. A miss is compulsory when the
page was never looked up before.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields

from pymodels.npb.streams import Traffic, Transfer


@dataclass
class Misses:
    """Look-ups and misses, counted."""

    lookups: int = 0
    send_compulsory: int = 0
    send_other: int = 0
    recv_compulsory: int = 0
    recv_other: int = 0

    @property
    def misses(self) -> int:
        """All of them."""
        return self.send_compulsory + self.send_other + self.recv_compulsory + self.recv_other

    @property
    def rate(self) -> float:
        """Misses per look-up."""
        return self.misses / self.lookups if self.lookups else 0.0

    def add(self, other: Misses, times: int = 1) -> None:
        """Count another's, so many times."""
        for field in fields(self):
            setattr(self, field.name, getattr(self, field.name) + times * getattr(other, field.name))


class TranslationCache:
    """`sets` x `ways` translations; a page belongs into set page mod `sets`, whose least recently used gives way. That
    goes into a victim cache for so many pages of any set, whose oldest is forgotten; a page that is found there changes
    places with the one that gives way to it.
    """

    def __init__(self, sets: int, ways: int, victims: int = 0) -> None:
        self.sets, self.ways, self.victims = sets, ways, victims
        self._lines: list[list[int]] = [[] for _ in range(sets)]
        self._victims: list[int] = []
        self._seen: set[int] = set()

    def lookup(self, page: int) -> bool:
        """Look a page up and have it from now on; whether it was there."""
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
        """A page is not in its set; whether it is among the victims. There is room for it in its set then."""
        kept = page in self._victims
        if kept:
            self._victims.remove(page)
        if len(line) == self.ways:
            self._victims.insert(0, line.pop())
            del self._victims[self.victims :]
        return kept

    def run(self, transfers: Iterable[Transfer]) -> Misses:
        """Look up every page of these transfers."""
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
        """What it holds, in order of use."""
        return (*map(tuple, self._lines), tuple(self._victims))


def miss_rates(process: Traffic, sets: int, ways: int, victims: int = 0) -> Misses:
    """Of a whole run of one process.

    Iterations are the same: once one leaves the cache as it found it, so do all later ones, with as many misses.
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
