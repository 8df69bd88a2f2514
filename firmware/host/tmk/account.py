"""Where the time of a process goes: four parts that add up to all of it (paper 001, 5.5.4)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import Enum


class Part(Enum):
    """Of the time of a process."""

    COMPUTATION = "computation"
    COMMUNICATION = "communication"
    """Sending, and receiving what has arrived."""
    WAIT = "wait"
    """For an arrival."""
    PROTOCOL = "protocol"
    """TreadMarks' code without the two."""


class Account:
    """Of one process, from `open` to `close`. Times in ps."""

    def __init__(self, now: Callable[[], int]) -> None:
        self._now, self._part = now, Part.COMPUTATION
        self._since = 0
        self._running = False
        self.intervals: list[tuple[int, int, Part]] = []
        """(from, to, part), one behind the other."""

    def open(self) -> None:
        """It begins, in computation; what was before is forgotten."""
        self.intervals.clear()
        self._since, self._running = self._now(), True

    def close(self) -> None:
        """It ends."""
        if self._running:
            self._turn(self._part, self._now())
            self._running = False

    @contextmanager
    def during(self, part: Part) -> Iterator[None]:
        """What is done meanwhile is of this part."""
        before = self._part
        self._turn(part, self._now())
        try:
            yield
        finally:
            self._turn(before, self._now())

    def arrived(self, at: int) -> None:
        """What was waited for came at this time; since then, or since a handler last ran, it was received."""
        if self._part is Part.WAIT:
            self._turn(Part.COMMUNICATION, max(at, self._since))

    def total(self, part: Part) -> int:
        """Of one part."""
        return sum(to - begun for begun, to, one in self.intervals if one is part)

    def _turn(self, part: Part, at: int) -> None:
        if self._running and at > self._since:
            if self.intervals and self.intervals[-1][2] is self._part and self.intervals[-1][1] == self._since:
                self.intervals[-1] = self.intervals[-1][0], at, self._part
            else:
                self.intervals.append((self._since, at, self._part))
            self._since = at
        self._part = part
