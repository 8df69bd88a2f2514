"""Computations of an application, which use the CPU while no other activity needs it.

`spend` holds the CPU until its end, and is therefore for short paths. A `Computation` yields at once to interrupt
routines and signal handlers, and ends later by exactly their duration. Whatever its length, it costs one wake-up of
Python unless it is interrupted.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Protocol

from pymodels.errors import SanlabError
from pymodels.kernel import Future, Kernel


class ComputingError(SanlabError):
    """Invalid time of a computation."""


class ComputingCpu(Protocol):
    """CPU that runs computations between other uses, and calls their `go_on` and `give_way`."""

    def begin(self, computation: Computation) -> None:
        """Start a computation."""

    def end(self, computation: Computation) -> None:
        """End a finished or stopped computation."""


class Computation:
    """Computation of one application; `left` is the CPU time that it still needs, in ps."""

    def __init__(self, kernel: Kernel, cpu: ComputingCpu, left: int, record: Callable[[int, int], None]) -> None:
        """Create a computation that has not started; `record` is called with begin and end of each interval on
        the CPU.
        """
        self.left = left
        self._kernel = kernel
        self._cpu = cpu
        self.record = record
        self._since: int | None = None
        self._armed = False
        self._ended: Future[None] | None = None

    async def run(self) -> None:
        """Compute until the end or until `stop`. After `stop`, `left` is more than 0 and `run` continues."""
        if self.left <= 0:
            return
        self._ended = self._kernel.future("its own computing")
        self._cpu.begin(self)
        await self._ended

    def stop(self) -> None:
        """Make `run` return now, if it runs."""
        ended, self._ended = self._ended, None
        if ended is not None:
            self._cpu.end(self)
            ended.set(None)

    def had(self, now: int) -> int:
        """Return the CPU time since the computation last continued."""
        return 0 if self._since is None else max(0, now - self._since)

    def go_on(self, at: int) -> None:
        """Continue on the CPU from a present or future time on."""
        self._since = at
        if not self._armed:
            self._arm(at)

    def give_way(self, at: int) -> int:
        """Leave the CPU, and return the time for which the computation used it."""
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
        """End the computation if it was not interrupted since the alarm was set, else set the alarm again."""
        self._armed = False
        if self._since is None or self._ended is None:
            return
        if self._kernel.now - self._since >= self.left:
            self.stop()
        else:
            self._arm(self._since)


class Computes:
    """Mixin with `compute` for both bindings of the host's verbs."""

    def computation(self: Any, what: str | float, times: int = 1, who: str = "") -> Computation:
        """Return a computation that has not started.

        Args:
            what: Name of a compiled path, or a time in ns.
            times: Number of repetitions.
            who: Name of the application for errors.

        Raises:
            ComputingError: The time or the number of repetitions is invalid.
        """
        if not isinstance(what, str) and not (math.isfinite(what) and what >= 0):
            cause, remedy = "a time to compute is finite and not negative", "give ns from 0 on, or the name of a path"
            raise ComputingError(f"{who or self.who}: compute({what})", cause, remedy)
        if times < 0:
            cause, remedy = f"{times} repetitions are negative", "give times from 0 on"
            raise ComputingError(f"{who or self.who}: compute({what!r})", cause, remedy)
        duration, record = self._computing(what, times)
        return Computation(self._kernel, self.cpu, duration, record)

    async def compute(self: Any, what: str | float, times: int = 1) -> None:
        """Use the CPU for `times` executions of a compiled path or periods in ns, yielding at once to any other use."""
        await self.computation(what, times).run()
