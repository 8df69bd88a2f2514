"""Clock-crossing FIFO between unrelated clocks.

Strategy: two clocks of every ratio, with random phases, random gaps and stalls. Entries must leave in order, none lost
or duplicated. An entry must be visible exactly cfg_latency read edges after the first read edge strictly after its
write. The same commands at the same times are run with both clocks free-running and gated whenever the FIFO allows: the
times must be equal. Both clocks are generated here, edge by edge, so that coinciding and skipped edges are under
control.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

import cocotb
from cocotb.triggers import Timer

STEP = Timer(1, unit="ns")


@dataclass
class Side:
    """Clock with edges on a grid of `period` steps from `phase` on."""

    name: str
    period: int
    phase: int
    edges: int = 0

    def due(self, now: int) -> bool:
        return now >= self.phase and (now - self.phase) % self.period == 0


@dataclass
class Episode:
    """Events of a run: (time, entry) on each side."""

    writes: list[tuple[int, int]] = field(default_factory=list)
    shown: list[tuple[int, int]] = field(default_factory=list)
    reads: list[tuple[int, int]] = field(default_factory=list)
    edges: int = 0


class Bench:
    """Driver of both sides on their grids."""

    def __init__(self, dut: Any, write: Side, read: Side, latency: int, sleeping: bool) -> None:
        self.dut, self.write, self.read, self.sleeping = dut, write, read, sleeping
        dut.cfg_latency.value = latency
        for name in ("w_clk", "r_clk", "w_valid", "r_ready", "w_data"):
            dut[name].value = 0
        self.log = Episode()

    async def reset(self) -> None:
        dut = self.dut
        dut.w_rst.value = dut.r_rst.value = 1
        for level in (1, 0, 1, 0):
            dut.w_clk.value = dut.r_clk.value = level
            await STEP
        dut.w_rst.value = dut.r_rst.value = 0
        await STEP

    def _awake(self, side: Side, busy: Any) -> bool:
        return not self.sleeping or bool(int(busy.value))

    async def run(self, steps: int, seed: int, write_share: float, read_share: float, idle: float = 0.0) -> Episode:
        """Run `steps` time steps; the offered and accepted entries depend on the seed and the time only."""
        dut, log, entry = self.dut, self.log, 1
        rng = random.Random(seed)
        was_valid = False
        for now in range(steps):
            quiet = now % 400 < 400 * idle
            w_due, r_due = self.write.due(now), self.read.due(now)
            offer, want = rng.random() < write_share and not quiet, rng.random() < read_share
            if not (w_due or r_due):
                continue
            w_fire = w_due and int(dut.w_valid.value) and int(dut.w_ready.value)
            r_valid = bool(int(dut.r_valid.value))
            r_fire = r_due and r_valid and int(dut.r_ready.value)
            w_edge = w_due and self._awake(self.write, dut.w_busy)
            r_edge = r_due and self._awake(self.read, dut.r_busy)
            if r_due and r_valid and not was_valid:
                log.shown.append((now, int(dut.r_data.value)))
            if r_due:
                was_valid = r_valid and not r_fire
            if w_fire:
                log.writes.append((now, entry))
                entry += 1
            if r_fire:
                log.reads.append((now, int(dut.r_data.value)))
            log.edges += w_edge + r_edge
            dut.w_clk.value, dut.r_clk.value = int(w_edge), int(r_edge)
            await STEP
            dut.w_clk.value = dut.r_clk.value = 0
            if w_due and (w_fire or not int(dut.w_valid.value)):
                dut.w_valid.value, dut.w_data.value = int(offer), entry & 0xFFFF
            if r_due:
                dut.r_ready.value = int(want)
            await STEP
        return log


async def episode(
    dut: Any,
    periods: tuple[int, int],
    latency: int,
    sleeping: bool,
    seed: int,
    shares: tuple[float, float],
    steps: int,
    idle: float = 0.0,
) -> Episode:
    rng = random.Random(seed)
    sides = [Side(name, period, rng.randrange(period)) for name, period in zip("wr", periods, strict=True)]
    bench = Bench(dut, sides[0], sides[1], latency, sleeping)
    await bench.reset()
    return await bench.run(steps, seed, shares[0], shares[1], idle)


@cocotb.test(timeout_time=10, timeout_unit="ms")
@cocotb.parametrize(
    periods=[(7, 10), (10, 7), (3, 16), (16, 3), (5, 5)],
    latency=[0, 2, 7],
    shares=[(1.0, 1.0), (0.5, 0.5), (1.0, 0.1)],
)
async def entries_cross_in_order(dut: Any, periods: tuple[int, int], latency: int, shares: tuple[float, float]) -> None:
    log = await episode(dut, periods, latency, False, cocotb.RANDOM_SEED, shares, 3000)
    got = [entry for _, entry in log.reads]
    assert got == [entry for _, entry in log.writes][: len(got)]
    assert len(log.writes) - len(got) <= 16
    assert len(got) >= 10


@cocotb.test(timeout_time=10, timeout_unit="ms")
@cocotb.parametrize(periods=[(7, 10), (10, 7), (5, 5), (6, 12)], latency=[0, 1, 3, 15])
async def an_entry_shows_at_the_promised_read_edge(dut: Any, periods: tuple[int, int], latency: int) -> None:
    seed = cocotb.RANDOM_SEED
    phase = random.Random(seed)
    phases = [phase.randrange(period) for period in periods]
    log = await episode(dut, periods, latency, False, seed, (0.02, 1.0), 8000)
    assert len(log.shown) >= 5
    written = {entry: now for now, entry in log.writes}
    previous = 0
    for now, entry in log.shown:
        edges = [t for t in range(phases[1], now + 1, periods[1]) if t > written[entry]]
        if previous + 1 == entry and len(edges) != latency + 2:
            assert len(edges) > latency + 2, "visible too early"
            continue  # it waited for another entry
        assert len(edges) == latency + 2, "first edge behind the write, the latency, and the edge that samples it"
        previous = entry


@cocotb.test(timeout_time=10, timeout_unit="ms")
@cocotb.parametrize(periods=[(7, 10), (10, 7), (5, 5)], latency=[0, 3], shares=[(0.4, 0.3), (1.0, 0.15)])
async def asleep_or_awake_every_entry_has_its_time(
    dut: Any, periods: tuple[int, int], latency: int, shares: tuple[float, float]
) -> None:
    """Compare gated and free-running clocks, mostly empty and with bursts into a nearly full FIFO."""
    seed = cocotb.RANDOM_SEED
    awake = await episode(dut, periods, latency, False, seed, shares, 6000, 0.7)
    asleep = await episode(dut, periods, latency, True, seed, shares, 6000, 0.7)
    assert (asleep.writes, asleep.reads, asleep.shown) == (awake.writes, awake.reads, awake.shown)
    assert asleep.edges < awake.edges
