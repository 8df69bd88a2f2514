"""An application that computes: it has the CPU while nobody else takes it.

`spend` holds the CPU to its end, so it is for short paths. A `Computation` gives way at once to whoever takes the CPU
(interrupt routines, handlers of signals), and is over later by exactly what they took. However long it is, it costs one
wake of Python unless it is disturbed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Protocol

from pymodels.errors import SanlabError
from pymodels.kernel import Future, Kernel


class ComputingError(SanlabError):
    """A process computes for a time that is none."""


class ComputingCpu(Protocol):
    """A CPU that computations have while nobody takes it: each calls its `go_on` and `give_way`."""

    def begin(self, computation: Computation) -> None:
        """It wants to have the CPU."""

    def end(self, computation: Computation) -> None:
        """It does not any more: it is over, or stopped."""


class Computation:
    """Of one application: `left` is what it still needs of the CPU's time, in ps."""

    def __init__(self, kernel: Kernel, cpu: ComputingCpu, left: int, record: Callable[[int, int], None]) -> None:
        """`record` is told begin and end of each stretch for which it had the CPU."""
        self.left = left
        self._kernel = kernel
        self._cpu = cpu
        self.record = record
        self._since: int | None = None
        self._armed = False
        self._ended: Future[None] | None = None

    async def run(self) -> None:
        """Compute until it is over, or until `stop`: then `left` is more than 0, and `run` goes on with it."""
        if self.left <= 0:
            return
        self._ended = self._kernel.future("its own computing")
        self._cpu.begin(self)
        await self._ended

    def stop(self) -> None:
        """Let `run` return now; nothing when it does not run."""
        ended, self._ended = self._ended, None
        if ended is not None:
            self._cpu.end(self)
            ended.set(None)

    def had(self, now: int) -> int:
        """For how long it has had the CPU since it last went on."""
        return 0 if self._since is None else max(0, now - self._since)

    def go_on(self, at: int) -> None:
        """It has the CPU from a time on, which may be to come."""
        self._since = at
        if not self._armed:
            self._arm(at)

    def give_way(self, at: int) -> int:
        """It has the CPU no longer; for how long it had it."""
        assert self._since is not None
        had, begun, self._since = at - self._since, self._since, None
        self.left -= had
        if had:
            self.record(begun, at)
        return had

    def _arm(self, since: int) -> None:
        self._armed = True
        self._kernel.at(since + self.left, self._due)

    def _due(self) -> None:
        """It would be over, had nobody disturbed it since the alarm was set."""
        self._armed = False
        if self._since is None or self._ended is None:
            return
        if self._kernel.now - self._since >= self.left:
            self.stop()
        else:
            self._arm(self._since)


class Computes:
    """`compute`, mixed into both bindings of the host's verbs."""

    def computation(self: Any, what: str | float, times: int = 1, who: str = "") -> Computation:
        """Computing that has not begun: a compiled path, or so many ns, `times` times. ComputingError names `who`."""
        if not isinstance(what, str) and not (math.isfinite(what) and what >= 0):
            cause, remedy = "a time to compute is finite and not negative", "give ns from 0 on, or the name of a path"
            raise ComputingError(f"{who or self.who}: compute({what})", cause, remedy)
        if times < 0:
            cause, remedy = f"{times} times is less than none", "give times from 0 on"
            raise ComputingError(f"{who or self.who}: compute({what!r})", cause, remedy)
        duration, record = self._computing(what, times)
        return Computation(self._kernel, self.cpu, duration, record)

    async def compute(self: Any, what: str | float, times: int = 1) -> None:
        """Use the CPU for a compiled path or so many ns, `times` times, and give way at once to whoever takes it."""
        await self.computation(what, times).run()
