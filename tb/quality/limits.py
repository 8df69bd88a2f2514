"""Time limits of checks with a mutant, from their CPU seconds without it."""

from __future__ import annotations

from typing import NamedTuple


class Limit(NamedTuple):
    """Limit: fixed seconds plus a multiple of the measured duration."""

    spare: float
    factor: float

    def limit_for(self, seconds: float) -> float:
        """Return the limit in CPU seconds."""
        return self.spare + self.factor * seconds


BENCH = Limit(5, 3)
"""Limit of a bench with its build."""
TEST_OF_BENCH = Limit(2, 3)
"""Limit of a bench's test in the simulator."""
TEST = Limit(20, 5)
"""Limit of a Python test."""
