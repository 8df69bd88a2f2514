"""Single link port without any neighbour that could keep its clock running.

Strategy: the wire, the peer's lasting STOP and both streams change at random grid points, most of them quiet. The same
stimulus is run with free-running and gated clocks: streams, data characters, events and status must be equal at every
grid point. Only characters that are computed instead of sent may differ (BEAT, repeated STOP).
"""

from __future__ import annotations

import random
from typing import Any

import cocotb

from pymodels.link.characters import Symbol
from pymodels.settings import LINK
from tb.agents.grid import Grid
from tb.agents.link import PacketSource
from tb.agents.settings import SettingsPort, drive
from tb.agents.streams import sometimes
from tests.block.bundles import lanes
from tests.block.netlists import sleeping_clocks

SETTINGS = {
    "cfg_slack": 80,
    "cfg_stop_mark": 56,
    "cfg_go_mark": 40,
    "cfg_refresh": 8,
    "cfg_short_timeout": 16,
    "cfg_long_timeout": 60,
    "cfg_beat_period": 64,
    "rx": 0,
    "stop_lasts": 0,
    "m_ready": 0,
}
COMPARED = ("m_valid", "s_ready")
STATUS = ("stopped", "stopping", "fill", "overflow", "illegal", "forward_reset", "short_timeout")
"""Compared fields of the port's status; the log has them after `COMPARED`."""


def status(dut: Any, field: str) -> int:
    """Return a field of the port's status."""
    return lanes(int(dut.status.value), "link/myri_link_pkg", "link_status_t", field, 1)[0]


def logged(field: str) -> int:
    """Return the position of a field of the status in an entry of the log."""
    return 2 + len(COMPARED) + STATUS.index(field)


class Bench:
    """Port, a random wire, and a log of all compared signals."""

    def __init__(self, dut: Any, sleeping: bool, seed: int) -> None:
        drive(dut, SETTINGS, [SettingsPort(dut.cfg, LINK)])
        self.dut, self.rng = dut, random.Random(seed)
        self.grid = Grid(dut, sleeping)
        self.source = PacketSource(dut, "s", self.grid, sometimes(0.1, random.Random(seed)))
        self.log: list[tuple[int, ...]] = []
        self.activity = 0.0
        self.grid.samplers.append(self._sample)
        self.grid.drivers.append(self._drive)

    def _sample(self, now: int) -> None:
        dut = self.dut
        tx = int(dut.tx.value)
        data = tx if tx & 0x100 or tx in {Symbol.GAP, Symbol.GO} else 0
        levels = [int(dut[name].value) for name in COMPARED]
        levels[1] &= int(dut.s_valid.value)  # ready counts only with valid: an idle slot used by BEAT has no owner
        levels += [status(dut, field) for field in STATUS]
        if data or any(levels):
            self.log.append((now, data, *levels))

    def _character(self) -> int:
        kind = self.rng.random()
        if kind < 0.7:
            return 0x100 | self.rng.getrandbits(8)
        return int(self.rng.choice([Symbol.GAP, Symbol.STOP, Symbol.GO, 0x02, 0x08, 0x44, Symbol.BEAT]))

    def _drive(self, now: int) -> None:
        rng, dut = self.rng, self.dut
        if rng.random() < 0.02:
            self.activity = rng.choice([0.0, 0.0, 0.1, 0.9])
        dut.rx.value = self._character() if rng.random() < self.activity else 0
        if rng.random() < 0.01:
            dut.stop_lasts.value = rng.getrandbits(1)
        if rng.random() < 0.02:
            dut.m_ready.value = rng.getrandbits(1)
        if rng.random() < 0.01:
            self.source.send(rng.randbytes(rng.randint(1, 30)))


async def episode(dut: Any, sleeping: bool, seed: int) -> Bench:
    bench = Bench(dut, sleeping, seed)
    await bench.grid.reset(seed % 1000)
    await bench.grid.run(6000)
    return bench


@cocotb.test(timeout_time=20, timeout_unit="ms")
@cocotb.parametrize(run=[0, 1, 2, 3])
@sleeping_clocks()
async def asleep_or_awake_a_port_alone_does_the_same(dut: Any, run: int) -> None:
    seed = random.Random(cocotb.RANDOM_SEED + run).getrandbits(30)
    awake = await episode(dut, False, seed)
    asleep = await episode(dut, True, seed)
    for one, other in zip(awake.log, asleep.log, strict=False):
        assert one == other, ("data", *COMPARED, *STATUS)
    assert len(awake.log) == len(asleep.log)
    assert asleep.grid.edges < awake.grid.edges
    assert any(entry[logged("forward_reset")] for entry in awake.log)
    assert any(entry[logged("short_timeout")] for entry in awake.log)


@cocotb.test(timeout_time=20, timeout_unit="ms")
@sleeping_clocks()
async def a_packet_offered_to_a_stopped_sleeping_port_is_cut_in_time(dut: Any) -> None:
    bench = Bench(dut, True, 1)
    bench.grid.drivers.remove(bench._drive)
    await bench.grid.reset()
    dut.rx.value, dut.stop_lasts.value = int(Symbol.STOP), 1
    await bench.grid.run(1)
    dut.rx.value = 0
    await bench.grid.run(300)
    bench.source.gaps = sometimes(0.0, bench.rng)
    bench.source.send(b"blocked before its first character")
    offered = bench.grid.now
    await bench.grid.run(400)
    cuts = [entry[0] for entry in bench.log if entry[logged("forward_reset")]]
    assert cuts == [offered + 1 + 60]
    assert bench.source.idle and not any(entry[1] & 0x100 for entry in bench.log), "discarded, nothing was sent"
    assert bench.grid.edges < 100


@cocotb.test(timeout_time=20, timeout_unit="ms")
@sleeping_clocks()
async def the_gap_of_a_packet_cut_under_stop_waits_for_go_asleep(dut: Any) -> None:
    bench = Bench(dut, True, 1)
    bench.grid.drivers.remove(bench._drive)
    await bench.grid.reset()
    bench.source.gaps = sometimes(0.0, bench.rng)
    bench.source.send(bytes(40))
    await bench.grid.run(10)
    dut.rx.value, dut.stop_lasts.value = int(Symbol.STOP), 1
    await bench.grid.run(1)
    dut.rx.value = 0
    await bench.grid.run(1000)
    assert [entry for entry in bench.log if entry[logged("forward_reset")]]
    assert bench.source.idle and not [entry for entry in bench.log if entry[1] == int(Symbol.GAP)]
    assert bench.grid.edges < 200
    dut.rx.value, dut.stop_lasts.value = int(Symbol.GO), 0
    await bench.grid.run(1)
    dut.rx.value = 0
    freed = bench.grid.now
    await bench.grid.run(10)
    assert [entry[0] for entry in bench.log if entry[1] == int(Symbol.GAP)] == [freed + 1]


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def a_beat_is_missed_at_an_edge_and_a_slot_slept_over_held_one(dut: Any) -> None:
    bench = Bench(dut, True, 1)
    bench.grid.drivers.remove(bench._drive)
    await bench.grid.reset()
    dut.rx.value = int(Symbol.BEAT)
    await bench.grid.run(1)
    dut.rx.value = 0
    await bench.grid.run(64 * 3 - 2)
    assert status(dut, "beat_seen") and not status(dut, "beat_missed") and bench.grid.edges < 10, "slept over two slots"
    bench.source.gaps = sometimes(0.0, bench.rng)
    bench.source.send(bytes(64 * 4))
    await bench.grid.run(5)
    assert not status(dut, "beat_missed"), "clock woken at this slot, gated when the previous BEAT arrived"
    await bench.grid.run(64)
    assert status(dut, "beat_missed") and not status(dut, "link_down"), "clock running, and no BEAT arrived"
    await bench.grid.run(64 * 2)
    assert status(dut, "link_down")
