"""Times at which a message between kernel agents is repeated until it is answered.

Each wait is twice as long as the one before it, up to a limit. At a constant rate, repeats can arrive faster than a
slow NIC handles them: its receive buffers then hold repeats alone, and the answer is late.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

LONGEST = 32
"""Longest wait, in units of the first one. Assumed."""
TRIES = 10
"""After so many ACCEPTs without a CONFIRM, or DISCONNECTs without a GONE, the peer counts as gone. Assumed."""


def waits_us(first_us: int) -> Iterator[int]:
    """Yield the wait after each transmission of one message, in us, without end."""
    wait = first_us
    while True:
        yield wait
        wait = min(2 * wait, LONGEST * first_us)


def limited_waits_us(first_us: int) -> Iterator[int]:
    """Yield the wait after each transmission of a message that is given up after `TRIES`, in us."""
    return islice(waits_us(first_us), TRIES)
