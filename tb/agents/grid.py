"""Absolute clock grid of a block bench: a gateable clock and the agents that sample and drive around its edges.

At each grid point, in this order: `cycle` takes the point's number, agents sample, the clock rises unless it is gated,
agents drive. Agents run at every grid point, also where the block's clock edge is skipped.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cocotb.triggers import Timer

HALF = Timer(5, unit="ns")
SETTLE = Timer(1, unit="ns")


SLEEP_BITS = 52
"""Bits of the type sleep_t of myri_sleep_pkg: needed, busy, in_flight, and 49 of the alarm."""


def alarm(handle: Any) -> int | None:
    """Return the clock edge that a block requests at its output `alarm` (myri_sleep_pkg), or None if it
    requests none.
    """
    return requested(int(handle.value))


def requested(value: int) -> int | None:
    """Return the clock edge of a value of the type alarm_t, or None if the alarm is not set."""
    valid, cycle = divmod(value, 1 << 48)
    return cycle if valid else None


def _needs(dut: Any) -> Callable[[], tuple[int, int]]:
    """Return the function that reads `busy` and the alarm of a block, from `sleep` if it has one of type sleep_t."""
    sleep = getattr(dut, "sleep", None)
    if sleep is None or len(sleep) != SLEEP_BITS:
        busy, until = dut.busy, dut.alarm
        return lambda: (int(busy.value), int(until.value))

    def read() -> tuple[int, int]:
        value = int(sleep.value)
        return value >> 50 & 1, value & (1 << 49) - 1

    return read


class Grid:
    """Clock, `cycle` counter and reset of a block bench.

    Args:
        dut: Handle with the wires clk, rst, cycle, and either `sleep` of the type sleep_t, or busy and alarm.
        sleeping: Skip the clock edges that the block does not request.
        gated: True if the block has gated clocks (gated_clk and gated_needed, one bit each). Each gated clock gets the
            edges of clk that it needs, or all edges if `sleeping` is false.
    """

    def __init__(self, dut: Any, sleeping: bool = False, gated: bool = False) -> None:
        self.sleeping = sleeping
        self.now = 0
        """Number of the next grid point."""
        self.edges = 0
        """Number of clock edges driven so far."""
        self.samplers: list[Callable[[int], None]] = []
        self.drivers: list[Callable[[int], None]] = []
        self._clk, self._rst, self._cycle = dut.clk, dut.rst, dut.cycle
        self._needs = _needs(dut)
        self._gated = (dut.gated_clk, dut.gated_needed) if gated else None
        self._fall()
        self._cycle.value = 0

    def _rise(self, sleeping: bool) -> None:
        """Drive the rising edge of the clock and of the gated clocks."""
        if self._gated is not None:
            clocks, needed = self._gated
            clocks.value = int(needed.value) if sleeping else (1 << len(clocks)) - 1
        self._clk.value = 1

    def _fall(self) -> None:
        self._clk.value = 0
        if self._gated is not None:
            self._gated[0].value = 0

    def _awake(self) -> bool:
        if not self.sleeping:
            return True
        busy, alarm_now = self._needs()
        moment = requested(alarm_now)
        return bool(busy) or (moment is not None and moment <= self.now)

    async def reset(self, start: int = 0) -> None:
        """Hold reset for four clock edges, then number the grid points from `start`."""
        self.now = start
        self._rst.value = 1
        for _ in range(4):
            self._rise(False)
            await HALF
            self._fall()
            await HALF
        self._rst.value = 0

    async def run(self, points: int, until: Callable[[], bool] = lambda: False) -> None:
        """Run `points` grid points, or fewer if `until` returns True before."""
        for _ in range(points):
            self._cycle.value = self.now
            await SETTLE
            for sample in self.samplers:
                sample(self.now)
            if self._awake():
                self.edges += 1
                self._rise(self.sleeping)
                await HALF
                self._fall()
                await SETTLE
            for drive in self.drivers:
                drive(self.now)
            self.now += 1
            if until():
                return
