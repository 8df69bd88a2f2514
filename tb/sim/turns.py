"""Turns of Python: at each wake-up by the simulator, dispatch the events and run every ready task.

While all clocks are gated and no unit has a new command, the next alarm comes first. It is then handled in the same
turn, at its own time, without a return to the simulator.

This is the Python version; tb/sim/twin/turns_python.c has the same effect in C (`tb.sim.compiled`).
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from pymodels.kernel import Future, Kernel

HEARTBEAT = 1024
"""Number of simulated times between two heartbeats: tens of milliseconds of wall time."""


@dataclass
class Cost:
    """Wall-time account of a run: Python wake-ups, seconds in Python, seconds in the simulator."""

    python_wakes: int = 0
    wall_python_s: float = 0.0
    wall_rtl_s: float = 0.0


class Turns:
    """Turns until a future is done. A call executes one turn and returns False once the future is done."""

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
        """Bind the turns to a doorway and a kernel.

        Args:
            words: Words shared with the doorway (`Exchange.turn`).
            drain: Function that dispatches the events.
            kernel: Event loop.
            finished: Future that ends the turns.
            cost: Wall-time account.
            hang_ps: Simulated time in ps without events that counts as a hang.
            beat: Function called with the time once in HEARTBEAT times.
            hang: Function that raises HangError.
            still_until: Function that returns the time until which the hardware is idle, or None to return to the
                simulator for each alarm.
        """
        self._words, self._drain, self._kernel, self._finished = words, drain, kernel, finished
        self._cost, self._hang_ps, self._beat, self._hang = cost, hang_ps, beat, hang
        self._still_until, self._times = still_until, 0
        self._limit, self._left = 0, perf_counter()

    def __call__(self) -> bool:
        """Execute one turn and return True while the future is not done."""
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
        """Set the simulated time, and call the heartbeat when due."""
        self._kernel.now = self._words[0] = now
        self._times += 1
        if not self._times % HEARTBEAT:
            self._beat(now)

    def _next(self) -> int:
        """Return the time of the next alarm, or of a hang report."""
        alarm, latest = self._kernel.next_alarm(), self._kernel.now + self._hang_ps
        self._limit = 0 if alarm is not None else latest
        return latest if alarm is None else min(alarm, latest)

    def _still(self) -> int:
        """Return the time before which only an alarm can happen, or 0 if it is unknown."""
        if self._still_until is None or self._limit or self._finished.done:
            return 0
        return self._still_until()

    def callback(self, failed: Callable[[BaseException], None], over: Callable[[], None], /) -> Any:
        """Return the C function pointer that the doorway calls for a turn (`dw_set_python`). The caller keeps
        a reference.

        Args:
            failed: Function called with the exception of a turn that raises.
            over: Function called after the last turn.
        """

        def wake() -> None:
            """Execute a turn without an exception reaching C."""
            try:
                goes_on = self()
            except BaseException as error:  # noqa: BLE001 - Ctrl-C too: Engine.run raises it again
                failed(error)
                goes_on = False
            if not goes_on:
                over()

        return ctypes.CFUNCTYPE(None)(wake)
