"""Turns of Python: at each wake of the simulator the events are handed out, and every task that can run runs.

While all hardware sleeps, and was given nothing to do, nothing can happen before the next alarm: it is taken in the
same turn, at its time, and the simulator does not notice it.

This is it in Python; tb/sim/twin/turns_python.c is the same in C (`tb.sim.compiled`).
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from pymodels.kernel import Future, Kernel

HEARTBEAT = 1024
"""Times between two heartbeats: tens of milliseconds of wall time."""


@dataclass
class Cost:
    """Where the wall time of a run went."""

    python_wakes: int = 0
    wall_python_s: float = 0.0
    wall_rtl_s: float = 0.0


class Turns:
    """The turns until a future is done. A call is one turn, and False when it is."""

    def __init__(
        self,
        words: memoryview,
        drain: Callable[[], None],
        kernel: Kernel,
        finished: Future[Any],
        cost: Cost,
        hang_ps: int,
        beat: Callable[[int], None],
        hang: Callable[[], None],
        still_until: Callable[[], int] | None,
    ) -> None:
        """`words`: what a turn shares with the doorway (`Exchange.turn`); `drain` hands out the events. `beat` is
        called with the time every HEARTBEAT times, `hang`, which raises, when nothing has happened for `hang_ps`.
        `still_until`: until when the hardware does nothing; None: a turn takes no time.
        """
        self._words, self._drain, self._kernel, self._finished = words, drain, kernel, finished
        self._cost, self._hang_ps, self._beat, self._hang = cost, hang_ps, beat, hang
        self._still_until, self._times = still_until, 0
        self._limit, self._left = 0, perf_counter()

    def __call__(self) -> bool:
        """One turn."""
        entered, cost, words, kernel = perf_counter(), self._cost, self._words, self._kernel
        cost.wall_rtl_s += entered - self._left
        cost.python_wakes += 1
        self._begin(words[0])
        if self._limit and kernel.now >= self._limit:
            self._hang()
        self._drain()
        kernel.run_ready()
        while (following := self._next()) < self._still():
            self._begin(following)
            kernel.run_ready()
        words[1] = 0 if self._finished.done else following
        self._left = perf_counter()
        cost.wall_python_s += self._left - entered
        return not self._finished.done

    def _begin(self, now: int) -> None:
        """It is this time now."""
        self._kernel.now = self._words[0] = now
        self._times += 1
        if not self._times % HEARTBEAT:
            self._beat(now)

    def _next(self) -> int:
        """When the next alarm is due, or a hang is reported."""
        alarm, latest = self._kernel.next_alarm(), self._kernel.now + self._hang_ps
        self._limit = 0 if alarm is not None else latest
        return latest if alarm is None else min(alarm, latest)

    def _still(self) -> int:
        """Until when nothing but an alarm can happen; 0: nobody knows."""
        if self._still_until is None or self._limit or self._finished.done:
            return 0
        return self._still_until()

    def callback(self, failed: Callable[[BaseException], None], over: Callable[[], None], /) -> Any:
        """What the doorway calls for a turn (`dw_set_python`); it must be kept meanwhile. `failed` gets the exception
        of a turn that raises; `over` is called behind the last turn.
        """

        def wake() -> None:
            """The simulator's call. An exception must not reach C."""
            try:
                goes_on = self()
            except BaseException as error:  # noqa: BLE001 - Ctrl-C too: raised again by who waits for the end
                failed(error)
                goes_on = False
            if not goes_on:
                over()

        return ctypes.CFUNCTYPE(None)(wake)
