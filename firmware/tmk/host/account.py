"""Where the time of a process goes: four shares that add up to all of it (paper 001, 5.5.4)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import Enum

from pymodels.host import Process
from pymodels.host.computing import Computation
from pymodels.kernel import Task


class Share(Enum):
    """Of the time of a process."""

    COMPUTATION = "computation"
    """Of the program itself: what `compute` had the CPU for."""
    COMMUNICATION = "communication"
    """Sending, and receiving what has arrived."""
    WAIT = "wait"
    """For an arrival."""
    PROTOCOL = "protocol"
    """TreadMarks' code without the two."""


def _nobody(opened: bool) -> None:
    """Watches no account."""


class Account:
    """Of one process, from `open` to `close`. Times in ps. Each thread says what it does, one thing within another; the
    process does what the thread does that has the CPU.
    """

    def __init__(self, now: Callable[[], int], process: Process) -> None:
        self._now, self._threads = now, process.threads
        self._doing: dict[Task | None, list[Share]] = {}
        """By thread, the innermost last."""
        self._share = Share.COMPUTATION
        self._since = 0
        self._running = False
        self.watch: Callable[[bool], None] = _nobody
        """Told when it opens (True) and closes."""
        self.intervals: list[tuple[int, int, Share]] = []
        """(from, to, share), one behind the other."""
        self._threads.turned = self._look
        process.around_computing = self._computing

    def open(self) -> None:
        """It begins; what was before is forgotten."""
        self.intervals.clear()
        self._since, self._running = self._now(), True
        self.watch(True)

    def close(self) -> None:
        """It ends."""
        if self._running:
            self._book(self._share, self._now())
            self._running = False
            self.watch(False)

    @contextmanager
    def during(self, share: Share) -> Iterator[None]:
        """What the calling thread does meanwhile is of this share."""
        me = self._threads.kernel.current
        self._doing.setdefault(me, []).append(share)
        self._look()
        try:
            yield
        finally:
            self._doing[me].pop()
            if not self._doing[me]:
                del self._doing[me]
            self._look()

    def since(self, at: int, share: Share) -> None:
        """What was done since then, or since something else was booked, was of this share."""
        self._book(self._share, at)
        self._book(share, self._now())

    def total(self, share: Share) -> int:
        """Of one share."""
        return sum(to - begun for begun, to, one in self.intervals if one is share)

    @contextmanager
    def _computing(self, computation: Computation) -> Iterator[None]:
        """The program computes; when it does not have the CPU, interrupt routines and signals tell of arrivals."""
        record = computation.record

        def had_the_cpu(begun: int, ended: int) -> None:
            record(begun, ended)
            self._book(self._share, begun)
            self._book(Share.COMPUTATION, ended)

        computation.record = had_the_cpu
        with self.during(Share.COMMUNICATION):
            yield

    def _look(self) -> None:
        """Something else may be done from now on: by the thread that has the CPU, or if that sleeps by another."""
        self._book(self._share, self._now())
        doing = self._doing.get(self._threads.running) or next(iter(self._doing.values()), [Share.COMPUTATION])
        self._share = doing[-1]

    def _book(self, share: Share, until: int) -> None:
        if not self._running or until <= self._since:
            return
        if self.intervals and self.intervals[-1][2] is share:
            self.intervals[-1] = self.intervals[-1][0], until, share
        else:
            self.intervals.append((self._since, until, share))
        self._since = until
