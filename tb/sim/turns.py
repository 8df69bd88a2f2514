"""Turns of Python: at each wake of the simulator the events are handed out, and every task that can run runs.

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
"""Wakes between two heartbeats: tens of milliseconds of wall time."""


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
    ) -> None:
        """`words`: what a turn shares with the doorway (`Exchange.turn`); `drain` hands out the events. `beat` is
        called with the time every HEARTBEAT wakes, `hang`, which raises, when nothing has happened for `hang_ps`.
        """
        self._words, self._drain, self._kernel, self._finished = words, drain, kernel, finished
        self._cost, self._hang_ps, self._beat, self._hang = cost, hang_ps, beat, hang
        self._limit, self._left = 0, perf_counter()

    def __call__(self) -> bool:
        """One turn."""
        entered, cost, words, kernel = perf_counter(), self._cost, self._words, self._kernel
        cost.wall_rtl_s += entered - self._left
        cost.python_wakes += 1
        kernel.now = now = words[0]
        if not cost.python_wakes % HEARTBEAT:
            self._beat(now)
        if self._limit and now >= self._limit:
            self._hang()
        self._drain()
        kernel.run_ready()
        alarm, latest = kernel.next_alarm(), now + self._hang_ps
        self._limit = 0 if alarm is not None else latest
        words[1] = 0 if self._finished.done else latest if alarm is None else min(alarm, latest)
        self._left = perf_counter()
        cost.wall_python_s += self._left - entered
        return not self._finished.done

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
