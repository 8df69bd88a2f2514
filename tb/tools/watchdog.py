"""Wall-clock limits of a run. A thread ends a study that loops, or waits outside the simulation, and names its line.

To end a run, the thread sends the main thread a signal whose handler raises RunLimitError.
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
"""Factor from the CPU seconds of a turn to its limit in wall time, since a blocked turn uses no CPU."""


class RunLimitError(BaseException):
    """Exceeded wall-clock limit of a run. `except Exception` in a study does not catch it."""


class Watchdog(threading.Thread):
    """Thread that ends the run of the main thread when a turn or the whole run takes too long.

    Args:
        turn_s: CPU seconds of Python without simulated time, excluding programs of the host machine.
        limit_s: Seconds of the whole run; 0: no limit.
        turns: Function that returns the number of turns and the simulated time; a change of the value ends a turn.
        waiting: Function that returns the waiting tasks for the message.
        note: Function called every half second if a turn has ended since, in the thread of the watchdog.
    """

    def __init__(
        self,
        turn_s: float,
        limit_s: float,
        turns: Callable[[], Any],
        waiting: Callable[[], list[str]],
        note: Callable[[], None] = lambda: None,
    ) -> None:
        super().__init__(daemon=True, name="watchdog")
        self._turn_s, self._limit_s, self._turns, self._waiting = turn_s, limit_s, turns, waiting
        self._note = note
        self._main = threading.get_ident()
        self._over = threading.Event()
        self._why = ""
        signal.signal(SIGNAL, self._raise)

    def run(self) -> None:
        """Check the main thread every half second until the run is over."""
        clock = time.pthread_getcpuclockid(self._main)
        begun = time.monotonic()
        last: Any = None
        cpu = wall = 0.0
        while not self._over.wait(TICK_S):
            now = self._turns()
            if now != last:
                self._note()
            if now != last or not self._in_a_turn():
                last, cpu, wall = now, time.clock_gettime(clock), time.monotonic()
            elif time.clock_gettime(clock) - cpu > self._turn_s or time.monotonic() - wall > WALL * self._turn_s:
                self._end(f"Python has run for {self._turn_s:g} s without simulated time; SET run.turn_s allows more")
            if self._limit_s and time.monotonic() - begun > self._limit_s:
                waits = "; ".join(self._waiting()) or "no task is waiting"
                self._end(f"the run takes longer than run.limit_s={self._limit_s:g} s: {waits}")

    def stop(self) -> None:
        """End the checks; the function `note` is not called any more."""
        self._over.set()
        self.join()

    def _in_a_turn(self) -> bool:
        """Return True if the main thread executes Python and does not wait for a program of the host machine."""
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
