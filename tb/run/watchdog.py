"""Real-time limits of a run, kept by a thread of the simulator's process: a study that loops, or waits outside of the
simulation, ends with the line at which it stands.

The thread only looks. To end a run it sends the main thread a signal, whose handler raises.
"""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

from pymodels.host import outside

SIGNAL = signal.SIGRTMIN
TICK_S = 0.5
WALL = 20
"""A turn may take so many times its seconds of CPU in wall time: a blocked one uses no CPU."""


class RunLimitError(BaseException):
    """A run has reached a limit of real time. No `except Exception` of a study catches it."""


class Watchdog(threading.Thread):
    """Ends the run of the main thread when a turn takes too long, or the whole run does.

    Args:
        turn_s: Seconds of CPU for Python without any simulated time, programs of the real machine not counted.
        limit_s: Seconds of the whole run; 0: none.
        turns: The number of turns and the simulated time: a turn is over when it changes.
        waiting: Who waits for what, for the message.
    """

    def __init__(
        self, turn_s: float, limit_s: float, turns: Callable[[], Any], waiting: Callable[[], list[str]]
    ) -> None:
        super().__init__(daemon=True, name="watchdog")
        self._turn_s, self._limit_s, self._turns, self._waiting = turn_s, limit_s, turns, waiting
        self._main = threading.get_ident()
        self._over = threading.Event()
        self._why = ""
        signal.signal(SIGNAL, self._raise)

    def run(self) -> None:
        """Look at the main thread every half second, until the run is over."""
        clock = time.pthread_getcpuclockid(self._main)
        begun = time.monotonic()
        last: Any = None
        cpu = wall = 0.0
        while not self._over.wait(TICK_S):
            now = self._turns()
            if now != last or not self._in_a_turn():
                last, cpu, wall = now, time.clock_gettime(clock), time.monotonic()
            elif time.clock_gettime(clock) - cpu > self._turn_s or time.monotonic() - wall > WALL * self._turn_s:
                self._end(f"Python has run for {self._turn_s:g} s without simulated time; SET run.turn_s allows more")
            if self._limit_s and time.monotonic() - begun > self._limit_s:
                waits = "; ".join(self._waiting()) or "no task waits for anything"
                self._end(f"the run takes longer than run.limit_s={self._limit_s:g} s: {waits}")

    def stop(self) -> None:
        """The run is over."""
        self._over.set()

    def _in_a_turn(self) -> bool:
        """Return True if the main thread is in Python, and not waiting for a program of the real machine."""
        return not any(frame.f_code.co_filename == outside.__file__ for frame in self._frames()) and any(self._frames())

    def _frames(self) -> Iterator[FrameType]:
        frame = sys._current_frames().get(self._main)
        while frame is not None:
            yield frame
            frame = frame.f_back

    def _end(self, why: str) -> None:
        self._why = why
        signal.pthread_kill(self._main, SIGNAL)
        self._over.wait(TICK_S * 10)

    def _raise(self, _: int, __: FrameType | None) -> None:
        if not self._over.is_set():
            self._over.set()
            raise RunLimitError(self._why)
