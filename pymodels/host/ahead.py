"""Turns of a polling loop that are computed instead of executed, while nothing but the loop happens.

A turn that begins and ends while all hardware is idle, and without other activity, repeats the previous one as long as
nothing else happens: the word is unchanged, the bus is free, the clocks have the same phases. Turns that have been
executed twice can therefore be skipped up to the next event, at the cost of one wake-up.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

from pymodels.kernel import FOREVER

MOST = 8
"""Maximum number of turns in a repeating pattern."""


class Repeats(Protocol):
    """Hardware around a loop, and all other sources of events."""

    grid_ps: int
    """Period after which the clocks that a turn uses have the same phases again."""
    executes: bool
    """True if the host has `repeat`, which executes turns of a loop without software."""
    pattern: int
    """Number of turns after which the hardware repeats itself, if every turn is equal for software."""

    def quiet_until(self) -> int:
        """Return the time of the next event outside of the running task; FOREVER if none, 0 if now or unknown."""

    def mark(self) -> tuple[int, ...]:
        """Return the counters of the hardware so far."""

    def again(self, mark: tuple[int, ...], period_ps: int, times: int) -> bool:
        """Repeat the effects on counters since a mark, `period_ps` ago, a number of times. Return False if they are
        unknown.
        """


@dataclass(frozen=True)
class Begin:
    """Start of a turn: its time, the time until which nothing else happens, and the counters at its start."""

    time: int
    quiet: int
    mark: tuple[int, ...]


class Turns:
    """Record of the turns of one loop."""

    def __init__(self, hardware: Repeats) -> None:
        self._hardware = hardware
        self._begins: deque[Begin] = deque(maxlen=2 * MOST + 1)

    def ahead(self, now: int, last: int) -> int:
        """Return the start time of the next turn that must be executed, after accounting for the turns before it.

        Args:
            now: Present time, at which a turn would begin.
            last: Time from which on the end of a turn ends the loop.

        Returns:
            The start time; FOREVER if no turn can end the loop.
        """
        hardware, begins = self._hardware, self._begins
        quiet = hardware.quiet_until()
        if quiet <= now:
            begins.clear()
            return now
        begins.append(Begin(now, quiet, hardware.mark()))
        count = self._pattern()
        if not count:
            return now
        first = begins[-1 - count]
        period = now - first.time
        until = min(quiet, last)
        if until == FOREVER:
            return FOREVER
        times = (until - 1 - now) // period
        if times <= 0 or not hardware.again(first.mark, period, times):
            return now
        begins.clear()
        return now + times * period

    @property
    def disturbed(self) -> bool:
        """True if other events happen too, so that no turn can be computed soon. Hardware may then execute turns, which
        are not recorded here.
        """
        begins = self._begins
        found = not begins or (len(begins) > 1 and begins[-2].quiet <= begins[-1].time)
        if found:
            begins.clear()
        return found and self._hardware.executes

    def _pattern(self) -> int:
        """Return the least number of turns that have repeated, undisturbed, in phase with the clocks; 0 if none."""
        begins, pattern = self._begins, self._hardware.pattern
        times = [begin.time for begin in begins]
        took = [after - before for before, after in pairwise(times)]
        alone = [one.quiet > after.time for one, after in pairwise(begins)]
        for count in range(pattern, MOST + 1, pattern):
            if 2 * count > len(took) or not all(alone[-2 * count :]):
                return 0
            if took[-count:] == took[-2 * count : -count] and not sum(took[-count:]) % self._hardware.grid_ps:
                return count
        return 0
