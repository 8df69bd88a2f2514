"""Synchronous FIFO against a deque.

Strategy: a source with gaps and a sink with stalls move random entries; order, level at every edge and handshakes must
match a deque of the same depth. Gaps and stalls are crossed so that the FIFO runs empty, full, and through both at full
rate.
"""

from __future__ import annotations

import random
from collections import deque
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, RisingEdge


async def begin(dut: Any) -> None:
    Clock(dut.clk, 10, unit="ns", impl="gpi").start(start_high=False)
    dut.rst.value, dut.w_valid.value, dut.r_ready.value, dut.w_data.value = 1, 0, 0, 0
    await ClockCycles(dut.clk, 3)
    dut.rst.value = 0
    await RisingEdge(dut.clk)


@cocotb.test(timeout_time=1, timeout_unit="ms")
@cocotb.parametrize(write_share=[1.0, 0.3, 0.8], read_share=[1.0, 0.3])
async def entries_leave_in_order_and_the_level_is_true(dut: Any, write_share: float, read_share: float) -> None:
    depth = 1 << len(dut.level) - 1
    rng, model, edge = random.Random(cocotb.RANDOM_SEED), deque[int](), RisingEdge(dut.clk)
    await begin(dut)
    moved = 0
    for _ in range(1500):
        valid, ready, entry = rng.random() < write_share, rng.random() < read_share, rng.getrandbits(8)
        dut.w_valid.value, dut.r_ready.value, dut.w_data.value = int(valid), int(ready), entry
        await edge
        assert int(dut.level.value) == len(model)
        assert int(dut.w_ready.value) == (len(model) < depth)
        assert int(dut.r_valid.value) == bool(model)
        push, pop = valid and len(model) < depth, ready and bool(model)
        assert int(dut.busy.value) == (push or pop)
        if pop:
            assert int(dut.r_data.value) == model[0]
            model.popleft()
            moved += 1
        if push:
            model.append(entry)
    assert moved > 300


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def reset_empties_it(dut: Any) -> None:
    await begin(dut)
    dut.w_valid.value = 1
    await ClockCycles(dut.clk, 5)
    dut.rst.value, dut.w_valid.value = 1, 0
    await ClockCycles(dut.clk, 2)
    assert int(dut.level.value) == 0 and int(dut.r_valid.value) == 0
