"""Crossing of the board's bus to a node, with unrelated clocks.

Strategy: both clocks have their own period. The bench with `_race` replaces the synchroniser by the race model. Random
accesses must reach the node once each, in order, and their answers must come back. A node that does not answer in time
gives an error, and its late answer must not be taken for that of a later access. A node in reset gives an error at
once, and after the reset accesses work again.
"""

from __future__ import annotations

import random
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, RisingEdge

WAIT = 64


class Bench:
    """Bus and node at both sides."""

    def __init__(self, dut: Any) -> None:
        self.dut, self.rng = dut, random.Random(cocotb.RANDOM_SEED)
        self.seen: list[tuple[int, int, int]] = []
        self.delay = 0

    async def begin(self, periods: tuple[int, int]) -> None:
        dut = self.dut
        for name in ("hold", "bus_valid", "bus_write", "bus_addr", "bus_wdata", "at_ready", "at_rdata", "at_error"):
            dut[name].value = 0
        dut.bus_rst.value = dut.nic_rst.value = 1
        Clock(dut.bus_clk, periods[0], unit="ps", impl="gpi").start(start_high=False)
        Clock(dut.nic_clk, periods[1], unit="ps", impl="gpi").start(start_high=False)
        await ClockCycles(dut.bus_clk, 8)
        await ClockCycles(dut.nic_clk, 8)
        dut.bus_rst.value = 0
        dut.nic_rst.value = 0
        await ClockCycles(dut.bus_clk, 8)
        cocotb.start_soon(self._node())

    async def _node(self) -> None:
        dut, edge = self.dut, RisingEdge(self.dut.nic_clk)
        while True:
            await edge
            if int(dut.nic_rst.value) or not int(dut.at_valid.value) or int(dut.at_ready.value):
                continue
            one = int(dut.at_write.value), int(dut.at_offset.value), int(dut.at_wdata.value)
            for _ in range(self.delay or self.rng.randrange(6)):
                await edge
            self.seen.append(one)
            dut.at_ready.value, dut.at_rdata.value, dut.at_error.value = 1, one[1] ^ 0xABCD0123, one[1] & 1
            await edge
            dut.at_ready.value = 0

    async def access(self, write: int, offset: int, data: int) -> tuple[int, int]:
        """Make an access and return read data and error."""
        dut, edge = self.dut, RisingEdge(self.dut.bus_clk)
        dut.bus_valid.value, dut.bus_write.value = 1, write
        dut.bus_addr.value, dut.bus_wdata.value = 0x1000_0000 | offset, data
        await edge
        while not int(dut.bus_ready.value):
            await edge
        answer = int(dut.bus_rdata.value), int(dut.bus_error.value)
        dut.bus_valid.value = 0
        await ClockCycles(dut.bus_clk, 1 + self.rng.randrange(3))
        return answer


@cocotb.test(timeout_time=20, timeout_unit="ms")
@cocotb.parametrize(periods=[(40000, 30000), (40000, 6250), (7002, 30010), (10000, 10006)])
async def each_access_reaches_the_node_once_and_its_answer_returns(dut: Any, periods: tuple[int, int]) -> None:
    bench = Bench(dut)
    await bench.begin(periods)
    made = []
    for _ in range(60):
        one = bench.rng.randrange(2), bench.rng.getrandbits(24), bench.rng.getrandbits(32)
        data, error = await bench.access(*one)
        made.append(one)
        assert (data, error) == (one[1] ^ 0xABCD0123, one[1] & 1)
    assert bench.seen == made


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def a_late_answer_is_not_taken_for_that_of_a_later_access(dut: Any) -> None:
    bench = Bench(dut)
    await bench.begin((40000, 30010))
    bench.delay = 2 * WAIT
    assert (await bench.access(0, 0x10, 0))[1] == 1, "no answer in time"
    bench.delay = 1
    data, error = await bench.access(0, 0x20, 0)
    assert (data, error) == (0x20 ^ 0xABCD0123, 0)
    assert [offset for _, offset, _ in bench.seen] == [0x10, 0x20]


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def a_node_in_reset_gives_errors_and_works_afterwards(dut: Any) -> None:
    bench = Bench(dut)
    await bench.begin((40000, 30010))
    for offset in (0x30, 0x40, 0x50):
        assert await bench.access(1, offset, 1) == (offset ^ 0xABCD0123, 0)
    dut.hold.value = 1
    assert (await bench.access(0, 0x60, 0))[1] == 1
    dut.nic_rst.value = 1
    await ClockCycles(dut.bus_clk, 10)
    assert (await bench.access(0, 0x64, 0))[1] == 1
    dut.nic_rst.value = 0
    await ClockCycles(dut.nic_clk, 4)
    dut.hold.value = 0
    await ClockCycles(dut.bus_clk, 4)
    for offset in (0x70, 0x80):
        assert await bench.access(0, offset, 0) == (offset ^ 0xABCD0123, 0)
    assert [offset for _, offset, _ in bench.seen] == [0x30, 0x40, 0x50, 0x70, 0x80], "no stale request"
