"""EP: independent computation, and at the end three global sums by recursive doubling (ours)."""

from __future__ import annotations

from pymodels.npb.streams import WORD, Traffic, Transfer, arrays, together

PAIRS = {"A": 1 << 28, "B": 1 << 30}
COUNTS = 10


def ep(problem: str, processes: int, rank: int) -> Traffic:
    """Return the traffic of one process of EP. Messages are equal in every class."""
    at = arrays(sums=3 * COUNTS * WORD, others=3 * COUNTS * WORD)
    step: list[Transfer] = []
    for doubles in (1, 1, COUNTS):
        for bit in range(processes.bit_length() - 1):
            size, peer = doubles * WORD, rank ^ 1 << bit
            step += together((Transfer(False, peer, at["others"], size), Transfer(True, peer, at["sums"], size)))
    return Traffic((), tuple(step), 1)
