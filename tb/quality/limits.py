"""How long something may take with a mutant that took so many seconds of the processor without one."""

from __future__ import annotations

from typing import NamedTuple


class Limit(NamedTuple):
    """So many seconds more, and so many times what it took."""

    spare: float
    factor: float

    def of(self, seconds: float) -> float:
        """Seconds of the processor that it may take."""
        return self.spare + self.factor * seconds


BENCH = Limit(5, 3)
"""A bench, with its build."""
TEST_OF_BENCH = Limit(2, 3)
"""One of its tests, in the simulator."""
TEST = Limit(20, 5)
"""A test of Python."""
