"""Model of the SRAM arbiter, which grants the two ports in each clock (paper 004, section 2.2; readings A10)."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from enum import IntEnum


class Requester(IntEnum):
    """Requesters by priority, highest first; PIO and DMA share the highest priority."""

    PIO = 0
    DMA = 1
    RX = 2
    TX = 3
    CPU = 4


class ArbiterModel:
    """Arbiter, clock by clock.

    Args:
        accesses: Number of accesses in a clock, 1 or 2.
    """

    def __init__(self, accesses: int) -> None:
        if accesses not in (1, 2):
            raise ValueError(f"accesses a clock: {accesses} is not 1 or 2")
        self.accesses = accesses
        self._next_io = Requester.PIO

    def clock(self, requests: AbstractSet[Requester]) -> list[Requester]:
        """Return the requesters granted in one clock: the first on port a, the second on port b."""
        order = sorted(requests, key=self._rank)
        granted = order[: self.accesses]
        io = [who for who in granted if who <= Requester.DMA]
        if len(io) == 1:
            self._next_io = Requester(1 - io[0])
        return granted

    def _rank(self, who: Requester) -> tuple[int, int]:
        if who <= Requester.DMA:
            return 0, int(who != self._next_io)
        return int(who), 0
