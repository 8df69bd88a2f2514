"""Reset bridge of a clock domain, with the race model of its registers in the bench `reset_race`.

Strategy: the reset rises and falls at times that no clock knows, many of them within the window before an edge. The
domain's reset must rise at once, without an edge. It must fall at the edge that the number of stages gives, or at the
next edge if the release fell into the window.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, ReadOnly, RisingEdge, Timer
from cocotb.utils import get_sim_time

PERIOD = 10_000
"""Period of the clock in ps."""
WINDOW = 2_500
"""Time before an edge in which a release may be missed, in ps, as in the race model."""
STAGES = 2


def now() -> int:
    """Return the time in ps."""
    return int(get_sim_time("ps"))


def releases(rng: random.Random) -> Iterator[int]:
    """Yield times between the clock's last edge and the release, in ps, half of them within the window."""
    for _ in range(200):
        yield rng.randrange(PERIOD - WINDOW, PERIOD - 1) if rng.random() < 0.5 else rng.randrange(1, PERIOD - WINDOW)


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def the_reset_rises_without_a_clock(dut: Any) -> None:
    dut.clk.value, dut.any_rst.value = 0, 0
    await Timer(7, "ns")
    dut.any_rst.value = 1
    await Timer(1, "ps")
    await ReadOnly()
    assert int(dut.reset.value) == 1


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def the_reset_falls_at_the_promised_edge_or_the_next(dut: Any) -> None:
    rng = random.Random(cocotb.RANDOM_SEED)
    dut.any_rst.value = 1
    Clock(dut.clk, PERIOD, unit="ps", impl="gpi").start(start_high=False)
    late = 0
    for after in releases(rng):
        await RisingEdge(dut.clk)
        edge = now()
        await Timer(after, "ps")
        dut.any_rst.value = 0
        await FallingEdge(dut.reset)
        edges, rest = divmod(now() - edge, PERIOD)
        assert rest == 0, "released between two edges"
        assert edges == STAGES or (edges == STAGES + 1 and PERIOD - after <= WINDOW), f"{edges} edges after {after} ps"
        late += edges - STAGES
        await Timer(rng.randrange(1, 3 * PERIOD), "ps")
        dut.any_rst.value = 1
        await Timer(1, "ps")
        await ReadOnly()
        assert int(dut.reset.value) == 1, "not asserted at once"
        await Timer(rng.randrange(1, PERIOD), "ps")
    cocotb.log.info("%d of 200 releases an edge late", late)


@cocotb.test(timeout_time=1, timeout_unit="ms")
@cocotb.parametrize(width=[1, 3_000, 9_999])
async def a_short_reset_is_kept_for_whole_periods(dut: Any, width: int) -> None:
    """Check that a reset between two edges resets the domain."""
    dut.any_rst.value = 0
    Clock(dut.clk, PERIOD, unit="ps", impl="gpi").start(start_high=False)
    for _ in range(STAGES + 2):
        await RisingEdge(dut.clk)
    await ReadOnly()
    assert int(dut.reset.value) == 0
    await Timer(1, "ps")
    dut.any_rst.value = 1
    await Timer(width, "ps")
    dut.any_rst.value = 0
    for _ in range(STAGES - 1):
        await RisingEdge(dut.clk)
        await ReadOnly()
        assert int(dut.reset.value) == 1
