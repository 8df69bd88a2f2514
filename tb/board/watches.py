"""Polled words of host memory, watched by the comparators of a board.

A board has a few comparators for each node. Words beyond their number are read in each turn of the engine.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from pymodels.kernel import Future, Kernel
from tb.board.link import BoardLink

WORD = 4


@dataclass(eq=False)
class Waiter:
    """Loop of host software that polls words."""

    node: int
    watches: Sequence[tuple[int, bytes]]
    """Address and known value of each word."""
    hit: Future[int]
    """Index of the word that differs."""
    comparators: dict[int, int] = field(default_factory=dict)
    """Comparator of each watched word, by index of the word."""

    def end(self) -> None:
        """End the loop although no word has changed."""
        if not self.hit.done:
            self.hit.set(0)


class Watches:
    """Loops that poll host memory of a board.

    Args:
        link: The board.
        kernel: Event loop of the run.
    """

    def __init__(self, link: BoardLink, kernel: Kernel) -> None:
        self._link, self._kernel = link, kernel
        self._number = link.identity.comparators
        self._waiters: list[Waiter] = []
        self._free = [list(range(self._number)) for _ in range(link.identity.nodes)]

    def wait(self, node: int, watches: Sequence[tuple[int, int]], why: str) -> Waiter:
        """Return a new loop over words of a host, given address and known big-endian value of each."""
        known = [(at, value.to_bytes(WORD, "big")) for at, value in watches]
        waiter = Waiter(node, known, self._kernel.future(why))
        for index, (at, value) in enumerate(known):
            if self._free[node]:
                number = waiter.comparators[index] = self._free[node].pop(0)
                self._link.arm(node, number, at, value)
        self._waiters.append(waiter)
        return waiter

    @property
    def mask(self) -> int:
        """Comparators that are armed, as in register WAIT_MASK."""
        self._drop_ended()
        return sum(self._bit(one, number) for one in self._waiters for number in one.comparators.values())

    @property
    def unwatched(self) -> bool:
        """True if a word has no comparator and must be read."""
        return any(len(one.comparators) < len(one.watches) for one in self._waiters)

    def __bool__(self) -> bool:
        return bool(self._waiters)

    def found(self, matched: int) -> bool:
        """End the loops whose words have changed, and return True if there are any.

        Args:
            matched: Comparators that have matched, as register WAIT returns them.
        """
        hits = [(one, index) for one in self._waiters if (index := self._first(one, matched)) is not None]
        for waiter, index in hits:
            if not waiter.hit.done:
                waiter.hit.set(index)
        self._drop_ended()
        return bool(hits)

    def _first(self, waiter: Waiter, matched: int) -> int | None:
        """Return the index of the first word of a loop that has changed, or None."""
        for index, (at, value) in enumerate(waiter.watches):
            if index in waiter.comparators:
                if matched & self._bit(waiter, waiter.comparators[index]):
                    return index
            elif self._link.memory(waiter.node).load(at, WORD) != value:
                return index
        return None

    def _bit(self, waiter: Waiter, number: int) -> int:
        return 1 << self._number * waiter.node + number

    def _drop_ended(self) -> None:
        for waiter in [one for one in self._waiters if one.hit.done]:
            self._waiters.remove(waiter)
            self._free[waiter.node] += waiter.comparators.values()
