"""Counter of a board's clock: the edge whose index a write of LATCH latches.

Strategy: counted clock and bus clock have periods without a common divisor, so that the writes fall on all phases. The
bench counts the edges of the clock after each write. The latched value must be the index of the third one, and the
delays from write to edge must fill two to three clocks evenly.
"""

from __future__ import annotations

import statistics
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, RisingEdge
from cocotb.utils import get_sim_time

PERIOD_PS, BUS_PS = 6_250, 41_338
WRITES = 120
LATE_EDGES = 3


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def a_write_latches_the_index_of_the_third_edge_after_it(dut: Any) -> None:
    dut.rst.value = dut.bus_rst.value = 1
    dut.latch.value = 0
    Clock(dut.clk, PERIOD_PS, unit="ps", impl="gpi").start(start_high=False)
    Clock(dut.bus_clk, BUS_PS, unit="ps", impl="gpi").start(start_high=False)
    await ClockCycles(dut.bus_clk, 4)
    dut.rst.value = dut.bus_rst.value = 0
    await ClockCycles(dut.bus_clk, 4)
    delays = []
    for number in range(WRITES):
        await RisingEdge(dut.bus_clk)
        dut.latch.value = ~number & 1
        written = get_sim_time("ps")
        for _ in range(LATE_EDGES):
            await RisingEdge(dut.clk)
        delays.append((get_sim_time("ps") - written) / PERIOD_PS)
        expected = int(dut.cycle.value)  # the index of the edge at which it is read
        while not int(dut.latched_valid.value):
            await RisingEdge(dut.bus_clk)
        assert int(dut.latched.value) == expected
        await RisingEdge(dut.bus_clk)
    assert LATE_EDGES - 1 < min(delays) < max(delays) <= LATE_EDGES
    assert abs(statistics.mean(delays) - (LATE_EDGES - 0.5)) < 0.1
