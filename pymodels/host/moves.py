"""Threads that spin on words of shared memory whose address another thread changes.

A loop of C reads a shared pointer each time round, so it looks at the new place when somebody moves the pointer. A loop
of a model spins on the words that it was given: whoever moves the place says so, and the loop ends at its next look.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Moves:
    """Of the words of one thing that threads spin on, a queue for instance."""

    def __init__(self) -> None:
        self.count = 0
        """How often the words have moved."""
        self._loops: list[Callable[[], None]] = []

    @contextmanager
    def ending(self, end: Callable[[], None]) -> Iterator[None]:
        """Call `end()` whenever the words move, as long as a loop spins on them."""
        self._loops.append(end)
        try:
            yield
        finally:
            self._loops.remove(end)

    def moved(self) -> None:
        """The words have moved."""
        self.count += 1
        for end in self._loops:
            end()
