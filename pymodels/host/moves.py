"""Moves of shared words on which other threads spin.

A loop in C reads a shared pointer in each turn, so that it uses the new location after a move. A loop of a model spins
on fixed words: the code that moves them must report the move, which ends the loop at its next look.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Moves:
    """Move notification for the words of one object, such as a queue."""

    def __init__(self) -> None:
        self.count = 0
        """Number of moves so far."""
        self._loops: list[Callable[[], None]] = []

    @contextmanager
    def ending(self, end: Callable[[], None]) -> Iterator[None]:
        """Call `end()` whenever the words move, while a loop spins on them."""
        self._loops.append(end)
        try:
            yield
        finally:
            self._loops.remove(end)

    def moved(self) -> None:
        """Report that the words have moved."""
        self.count += 1
        for end in self._loops:
            end()
