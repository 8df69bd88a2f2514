"""Comparator of a polled word against a model.

Strategy: a memory is written at random, whole words and single bytes, the watched word often. The comparator is armed
with each condition at random times. Hit, word and cycle must be those of a model that tests the word when it is armed
and at each write; a write at the very edge of arming, and at the next one, which the read of the memory misses, is
forced often.
"""

from __future__ import annotations

import random
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, RisingEdge

from pymodels.board.map import ComparatorRegister, Compare
from tests.block.cases import some

ADDRESS = 0x124
ROW = ADDRESS & ~7


class Bench:
    """Memory, comparator and model of its word."""

    def __init__(self, dut: Any) -> None:
        self.dut, self.rng = dut, random.Random(cocotb.RANDOM_SEED)
        self.word, self.cycle = 0, 0

    async def begin(self) -> None:
        dut = self.dut
        Clock(dut.clk, 10, unit="ns", impl="gpi").start(start_high=False)
        for name in ("cycle", "write", "offset", "wdata", "load", "load_data", "mem_write", "mem_addr", "mem_be"):
            dut[name].value = 0
        dut.mem_wdata.value, dut.rst.value = 0, 1
        await ClockCycles(dut.clk, 3)
        dut.rst.value = 0

    def store(self, often: float) -> bool:
        """Drive a random write of the NIC for the coming edge; return True if it touches the watched word."""
        dut, rng = self.dut, self.rng
        writes, ours = rng.random() < often, rng.random() < 0.6
        data, lanes = rng.choice([rng.getrandbits(64), 0x5_0000_0005, 0]), rng.choice([0xFF, 0xF0, 0x0F, 0x30, 0x80])
        dut.mem_write.value, dut.mem_addr.value = int(writes), ROW if ours else ROW + 8
        dut.mem_wdata.value, dut.mem_be.value = data, lanes
        touched = writes and ours and bool(lanes & 0xF0)
        if touched:
            mask = sum(0xFF << 8 * i for i in range(4) if lanes >> 4 + i & 1)
            self.word = self.word & ~mask | data >> 32 & mask
        return touched

    async def edge(self) -> None:
        self.dut.cycle.value = self.cycle
        await RisingEdge(self.dut.clk)
        self.cycle += 1

    async def put(self, register: ComparatorRegister, value: int) -> None:
        dut = self.dut
        dut.write.value, dut.offset.value, dut.wdata.value, dut.mem_write.value = 1, int(register), value, 0
        await self.edge()
        dut.write.value = 0

    async def get(self, register: ComparatorRegister) -> int:
        self.dut.offset.value, self.dut.mem_write.value = int(register), 0
        await self.edge()
        return int(self.dut.rdata.value)


def met(mode: Compare, word: int, value: int, mask: int) -> bool:
    equal = word & mask == value & mask
    return equal if mode is Compare.EQUAL else not equal


@cocotb.test(timeout_time=20, timeout_unit="ms")
@cocotb.parametrize(mode=[Compare.EQUAL, Compare.DIFFERENT, Compare.WRITTEN])
async def the_first_match_is_latched_with_word_and_cycle(dut: Any, mode: Compare) -> None:
    bench = Bench(dut)
    await bench.begin()
    hits = 0
    for _ in some(range(150)):
        rng = bench.rng
        value, mask = rng.choice([5, bench.word]), rng.choice([0xFFFFFFFF, 0xFF, 0xFF000000])
        for register, number in zip(ComparatorRegister, (ADDRESS, value, mask), strict=False):
            await bench.put(register, number)
        expected: tuple[int, int] | None = None
        # The edge of arming: the memory is read at it, before a write at it.
        before, armed = bench.word, bench.cycle
        bench.store(0.4)
        dut.write.value, dut.offset.value, dut.wdata.value = 1, int(ComparatorRegister.MODE), int(mode)
        await bench.edge()
        dut.write.value, dut.load.value, dut.load_data.value = 0, 1, before
        after = bench.word
        for i in range(rng.randrange(1, 12)):
            now, touched = bench.cycle, bench.store(0.5)
            if expected is None and touched and (mode is Compare.WRITTEN or met(mode, bench.word, value, mask)):
                expected = bench.word, now
            if expected is None and i == 0 and not touched and mode is not Compare.WRITTEN:
                expected = (after, armed) if met(mode, after, value, mask) else None
            await bench.edge()
            dut.load.value = 0
        assert await bench.get(ComparatorRegister.HIT) == int(expected is not None)
        if expected is not None:
            hits += 1
            assert await bench.get(ComparatorRegister.SEEN) == expected[0]
            assert await bench.get(ComparatorRegister.CYCLE_LOW) == expected[1]
            assert await bench.get(ComparatorRegister.CYCLE_HIGH) == 0
    assert hits > 10


@cocotb.test(timeout_time=5, timeout_unit="ms")
async def a_comparator_that_is_off_never_matches(dut: Any) -> None:
    bench = Bench(dut)
    await bench.begin()
    await bench.put(ComparatorRegister.ADDRESS, ADDRESS)
    for _ in range(50):
        bench.store(0.8)
        await bench.edge()
        assert int(dut.hit.value) == 0
