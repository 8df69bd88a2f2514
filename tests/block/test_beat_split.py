"""64-bit beats of the PIO stream split into 32-bit beats.

Strategy: random writes and reads are sent with random stalls; the bench answers each read with a word that depends on
its address. The expected halves and joined answers are computed from the beats alone.
"""

from __future__ import annotations

import random
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, FallingEdge, RisingEdge

BEATS = 300


def answer(address: int) -> int:
    """Return the bench's answer to a read of a word address."""
    return address * 0x9E3779B1 & 0xFFFFFFFF


def halves(read: int, address: int, be: int, data: int) -> list[tuple[int, int, int, int]]:
    """Return the expected output of a beat: (read, word address, be, data) per half."""
    both = [(read, 2 * address + i, be >> 4 * i & 15, data >> 32 * i & 0xFFFFFFFF) for i in (0, 1)]
    if read:
        return both
    return [half for half in both if half[2]] or both[:1]


@cocotb.test(timeout_time=1, timeout_unit="ms")
@cocotb.parametrize(stall=[0.0, 0.5])
async def every_half_comes_once_and_in_order(dut: Any, stall: float) -> None:
    """Check that a write outputs the halves with enabled lanes, and a read both halves and one answer."""
    rng = random.Random(cocotb.RANDOM_SEED)
    Clock(dut.clk, 10, unit="ns", impl="gpi").start(start_high=False)
    dut.rst.value, dut.in_valid.value, dut.out_ready.value, dut.out_rsp_valid.value = 1, 0, 0, 0
    dut.in_beat.value, dut.out_rsp_data.value = 0, 0
    await ClockCycles(dut.clk, 3)
    dut.rst.value = 0
    for _ in range(BEATS):
        read, address, data = int(rng.random() < 0.4), rng.getrandbits(21), rng.getrandbits(64)
        be = 0 if read else rng.choice([0, 0x0F, 0xF0, 0xFF, rng.getrandbits(8)])
        dut.in_valid.value, dut.in_beat.value = 1, read << 94 | address << 73 | be << 64 | data
        out: list[tuple[int, int, int, int]] = []
        while True:
            ready = int(rng.random() >= stall)
            dut.out_ready.value = ready
            await FallingEdge(dut.clk)
            shown = int(dut.out_beat.value)
            word = shown >> 72 & 0x3FFFFF
            dut.out_rsp_valid.value, dut.out_rsp_data.value = ready & read, answer(word)
            await cocotb.triggers.ReadOnly()
            if ready:
                out.append((shown >> 94, word, shown >> 64 & 0xFF, shown & 0xFFFFFFFFFFFFFFFF))
            taken = int(dut.in_ready.value)
            if read:
                assert int(dut.rsp_valid.value) == taken
                if taken:
                    assert int(dut.rsp_data.value) == answer(2 * address + 1) << 32 | answer(2 * address)
            await RisingEdge(dut.clk)
            if taken:
                break
        assert out == halves(read, address, be, data)
        dut.in_valid.value, dut.out_rsp_valid.value = 0, 0
        if rng.random() < 0.3:
            await RisingEdge(dut.clk)
