"""Turns of a polling loop that are computed instead of executed, while nothing but the loop happens.

A turn that begins and ends while all hardware sleeps, and in which nobody else acted, does what the one before did, as
long as nothing else happens: the word stays, the bus is free, the clocks stand to one another as before. So turns that
have been seen twice can be counted up to the next thing that is due anywhere, at no cost but one wake.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

from pymodels.kernel import FOREVER

MOST = 8
"""Turns after which their pattern must repeat."""


class Repeats(Protocol):
    """The hardware around a loop, and whatever else may act."""

    grid_ps: int
    """The clocks that a turn uses stand to one another as they did, after any multiple of this."""
    executes: bool
    """The host has `repeat`, which executes turns of a loop without software."""
    pattern: int
    """Turns after which the hardware does the same again, if every turn is the same for software."""

    def quiet_until(self) -> int:
        """When the next thing happens that the running task does not do; FOREVER: never. 0: now, or nobody knows."""

    def mark(self) -> tuple[int, ...]:
        """What the hardware has left behind so far."""

    def again(self, mark: tuple[int, ...], period_ps: int, times: int) -> bool:
        """What it has left behind since a mark, `period_ps` ago, is left so many times again. False: not known."""


@dataclass(frozen=True)
class Begin:
    """Of a turn: when, until when nothing else happens, and what was left behind until then."""

    time: int
    quiet: int
    mark: tuple[int, ...]


class Turns:
    """The turns of one loop so far."""

    def __init__(self, hardware: Repeats) -> None:
        self._hardware = hardware
        self._begins: deque[Begin] = deque(maxlen=2 * MOST + 1)

    def ahead(self, now: int, last: int) -> int:
        """A turn would begin now: when the first begins that must be executed. What those before it leave behind is
        done. The loop ends with the first turn that is over at `last` or later. FOREVER: no turn can end the loop.
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
        """Other things happen too, so no turn can be computed soon: hardware may execute those that come, which are not
        seen here.
        """
        begins = self._begins
        found = not begins or (len(begins) > 1 and begins[-2].quiet <= begins[-1].time)
        if found:
            begins.clear()
        return found and self._hardware.executes

    def _pattern(self) -> int:
        """The least number of turns that have repeated, undisturbed, in step with the clocks; 0: none."""
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
