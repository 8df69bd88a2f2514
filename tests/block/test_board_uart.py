"""Serial port of a board.

Strategy: the line is driven bit by bit, with pauses of any length. Its bit time differs from the nominal one, as that
of a host does. Bytes must arrive as sent. Sent bytes are decoded from the line at the middle of each bit. A byte
without a stop bit, and a line that stays 0, must be reported and must not be taken for further bytes.
"""

from __future__ import annotations

import random
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, FallingEdge, RisingEdge, Timer

CLOCK_NS, DIVISOR = 10, 7
BIT_PS = CLOCK_NS * DIVISOR * 1000


class Bench:
    """Bytes that arrived, and errors."""

    def __init__(self, dut: Any) -> None:
        self.dut, self.arrived, self.errors = dut, bytearray(), 0

    async def begin(self) -> None:
        dut = self.dut
        Clock(dut.clk, CLOCK_NS, unit="ns", impl="gpi").start(start_high=False)
        dut.rst.value, dut.rxd.value, dut.out_valid.value, dut.out_data.value = 1, 1, 0, 0
        await ClockCycles(dut.clk, 3)
        dut.rst.value = 0
        await ClockCycles(dut.clk, 4)
        cocotb.start_soon(self._listen())

    async def _listen(self) -> None:
        while True:
            await RisingEdge(self.dut.clk)
            if int(self.dut.in_valid.value):
                self.arrived.append(int(self.dut.in_data.value))
            self.errors += int(self.dut.in_error.value)

    async def send(self, byte: int, bit_ps: int = BIT_PS, stop: int = 1) -> None:
        """Drive a byte on the line with a bit time."""
        for bit in [0, *(byte >> i & 1 for i in range(8)), stop]:
            self.dut.rxd.value = bit
            await Timer(bit_ps, unit="ps")
        self.dut.rxd.value = 1


@cocotb.test(timeout_time=5, timeout_unit="ms")
@cocotb.parametrize(percent=[-3, 0, 3])
async def bytes_arrive_with_the_bit_time_of_another_clock(dut: Any, percent: int) -> None:
    bench, rng = Bench(dut), random.Random(cocotb.RANDOM_SEED)
    await bench.begin()
    sent = bytes(rng.getrandbits(8) for _ in range(60))
    for byte in sent:
        await bench.send(byte, BIT_PS * (100 + percent) // 100)
        await Timer(rng.choice([1, rng.randrange(1, 3 * BIT_PS)]), unit="ps")
    await ClockCycles(dut.clk, 4 * DIVISOR)
    assert bytes(bench.arrived) == sent
    assert bench.errors == 0


@cocotb.test(timeout_time=5, timeout_unit="ms")
async def a_byte_without_a_stop_bit_is_an_error_and_the_next_one_arrives(dut: Any) -> None:
    bench = Bench(dut)
    await bench.begin()
    await bench.send(0x55, stop=0)
    await Timer(3 * BIT_PS, unit="ps")
    await bench.send(0xA7)
    await ClockCycles(dut.clk, 4 * DIVISOR)
    assert bytes(bench.arrived) == b"\xa7"
    assert bench.errors == 1


@cocotb.test(timeout_time=5, timeout_unit="ms")
async def a_line_that_stays_0_is_one_error(dut: Any) -> None:
    bench = Bench(dut)
    await bench.begin()
    dut.rxd.value = 0
    await Timer(60 * BIT_PS, unit="ps")
    dut.rxd.value = 1
    await Timer(2 * BIT_PS, unit="ps")
    await bench.send(0x3C)
    await ClockCycles(dut.clk, 4 * DIVISOR)
    assert bytes(bench.arrived) == b"\x3c"
    assert bench.errors == 1


@cocotb.test(timeout_time=5, timeout_unit="ms")
async def sent_bytes_have_start_bit_data_and_stop_bit(dut: Any) -> None:
    bench, rng = Bench(dut), random.Random(cocotb.RANDOM_SEED)
    await bench.begin()
    for byte in (rng.getrandbits(8) for _ in range(20)):
        dut.out_data.value, dut.out_valid.value = byte, 1
        await FallingEdge(dut.txd)
        dut.out_valid.value = 0
        bits = []
        await Timer(BIT_PS // 2, unit="ps")
        for _ in range(10):
            bits.append(int(dut.txd.value))
            await Timer(BIT_PS, unit="ps")
        assert bits == [0, *(byte >> i & 1 for i in range(8)), 1]
        await ClockCycles(dut.clk, rng.randrange(1, DIVISOR))
