"""Retransmission time-outs of messages between kernel agents.

Each time-out is twice as long as the previous one, up to a limit. At a constant rate, retransmissions can arrive faster
than a slow NIC handles them. Its receive buffers then hold retransmissions only, and the reply is late.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

LONGEST = 32
"""Longest time-out, in units of the first one. Assumed."""
TRIES = 10
"""Number of transmissions of an ACCEPT or DISCONNECT after which the peer counts as gone. Assumed."""


def waits_us(first_us: int) -> Iterator[int]:
    """Yield the time-out after each transmission of a message, in us, without end."""
    wait = first_us
    while True:
        yield wait
        wait = min(2 * wait, LONGEST * first_us)


def limited_waits_us(first_us: int) -> Iterator[int]:
    """Yield the time-out after each of `TRIES` transmissions of a message, in us."""
    return islice(waits_us(first_us), TRIES)
