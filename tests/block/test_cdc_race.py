"""The crossing FIFO between unrelated clocks whose registers may sample a changing bit either way.

Strategy: `myri_sync` is replaced by its race model (tests/block/hdl/race). Two clocks of every ratio and phase, so that
many changes of a pointer fall into the window before an edge. Entries must leave in order, none lost or doubled, each
visible at the promised read edge or the next edge. A FIFO without further writes must become empty.
"""

from __future__ import annotations

import random
from typing import Any

import cocotb

from tests.block.test_cdc_fifo import episode

PERIODS = [(7, 10), (10, 7), (3, 16), (16, 3), (5, 5), (9, 10)]


@cocotb.test(timeout_time=10, timeout_unit="ms")
@cocotb.parametrize(periods=PERIODS, latency=[1, 2, 7], shares=[(1.0, 1.0), (0.5, 0.5), (1.0, 0.1)])
async def entries_cross_in_order(dut: Any, periods: tuple[int, int], latency: int, shares: tuple[float, float]) -> None:
    log = await episode(dut, periods, latency, False, cocotb.RANDOM_SEED, shares, 3000)
    got = [entry for _, entry in log.reads]
    assert got == [entry for _, entry in log.writes][: len(got)]
    assert len(log.writes) - len(got) <= 8
    assert len(got) >= 10


@cocotb.test(timeout_time=10, timeout_unit="ms")
@cocotb.parametrize(periods=PERIODS, latency=[0, 1, 2, 15])
async def an_entry_shows_at_the_promised_read_edge_or_the_next(
    dut: Any, periods: tuple[int, int], latency: int
) -> None:
    """Latency 0 counts as 1: between unrelated clocks a single register is no synchroniser."""
    seed = cocotb.RANDOM_SEED
    phase = random.Random(seed)
    phases = [phase.randrange(period) for period in periods]
    log = await episode(dut, periods, latency, False, seed, (0.02, 1.0), 8000)
    written = {entry: now for now, entry in log.writes}
    read = {entry: now for now, entry in log.reads} | {0: -1}
    late = 0
    for now, entry in log.shown:
        edges = sum(written[entry] < time <= now for time in range(phases[1], now + 1, periods[1]))
        promised = max(latency, 1) + 2
        assert edges >= promised, "visible too early"
        if read[entry - 1] < written[entry]:  # else it was behind another entry
            assert edges <= promised + 1, "a change was lost"
            late += edges == promised + 1
    assert len(log.shown) >= 5
    cocotb.log.info("%d of %d entries an edge late", late, len(log.shown))


@cocotb.test(timeout_time=10, timeout_unit="ms")
@cocotb.parametrize(periods=PERIODS, latency=[1, 3])
async def the_last_entry_arrives_without_a_further_push(dut: Any, periods: tuple[int, int], latency: int) -> None:
    """Check that a change of the pointer that the chain misses is seen before the next push."""
    log = await episode(dut, periods, latency, False, cocotb.RANDOM_SEED, (0.6, 0.9), 12000, idle=0.75)
    read_at = {entry: time for time, entry in log.reads}
    for start in range(400, 12000, 400):
        before = [entry for time, entry in log.writes if time < start + 2 * max(periods)]
        assert all(read_at.get(entry, start + 300) < start + 300 for entry in before)
    assert len(read_at) >= 100
