"""Time account of a process: four shares that add up to the total time (paper 001, 5.5.4)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import Enum

from pymodels.host import Process
from pymodels.host.computing import Computation
from pymodels.kernel import Task


class Share(Enum):
    """Share of a process's time."""

    COMPUTATION = "computation"
    """Computation of the program: CPU time of `compute`."""
    COMMUNICATION = "communication"
    """Sending, and receiving messages that have arrived."""
    WAIT = "wait"
    """Waiting for an arrival."""
    PROTOCOL = "protocol"
    """TreadMarks code apart from communication and waiting."""


def _nobody(opened: bool) -> None:
    """Do nothing (default observer)."""


class Account:
    """Time account of one process, from `open` to `close`, in ps.

    Each thread nests the shares of what it does; the process has the share of the thread that has the CPU.
    """

    def __init__(self, now: Callable[[], int], process: Process) -> None:
        self._now, self._threads = now, process.threads
        self._doing: dict[Task | None, list[Share]] = {}
        """Nested shares by thread, innermost last."""
        self._share = Share.COMPUTATION
        self._since = 0
        self._running = False
        self.watch: Callable[[bool], None] = _nobody
        """Observer called with True at `open` and with False at `close`."""
        self.intervals: list[tuple[int, int, Share]] = []
        """Contiguous intervals as (start, end, share)."""
        self._threads.turned = self._look
        process.around_computing = self._computing

    def open(self) -> None:
        """Start the account, discarding earlier intervals."""
        self.intervals.clear()
        self._since, self._running = self._now(), True
        self.watch(True)

    def close(self) -> None:
        """End the account."""
        if self._running:
            self._book(self._share, self._now())
            self._running = False
            self.watch(False)

    @contextmanager
    def during(self, share: Share) -> Iterator[None]:
        """Assign the calling thread's time to a share within the context."""
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
        """Assign the time since `at`, or since the last interval, to a share."""
        self._book(self._share, at)
        self._book(share, self._now())

    def total(self, share: Share) -> int:
        """Return the total time of a share, ps."""
        return sum(to - begun for begun, to, one in self.intervals if one is share)

    @contextmanager
    def _computing(self, computation: Computation) -> Iterator[None]:
        """Account for a computation; interrupt routines and signals during it count as communication."""
        record = computation.record

        def had_the_cpu(begun: int, ended: int) -> None:
            record(begun, ended)
            self._book(self._share, begun)
            self._book(Share.COMPUTATION, ended)

        computation.record = had_the_cpu
        with self.during(Share.COMMUNICATION):
            yield

    def _look(self) -> None:
        """Update the current share from the thread that has the CPU, or from another if that sleeps."""
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
