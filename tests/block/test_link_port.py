"""Two link ports back to back over cables of any length.

Strategy: random packets enter both ends as streams with gaps and leave them as streams with stalls. Each end must
deliver the packets of the other, in order, without a lost character. Cable length, gaps and stalls are crossed. Marks,
time-outs, refresh and BEAT have tests that force characters on the wire. Every scenario is run twice, with free-running
and gated clocks, with equal results. The model is the list of packets itself.
"""

from __future__ import annotations

import random
from itertools import pairwise, repeat
from typing import Any

import cocotb

from pymodels.link.characters import Symbol
from tb.agents.streams import sometimes
from tests.block.cases import cases
from tests.block.link_pair import Bench, Gate, bursts
from tests.block.netlists import on_netlist, sleeping_clocks


@cocotb.test(timeout_time=20, timeout_unit="ms")
@cases(delay=[0, 1, 10], gap=[0.0, 0.3], stall=[0.0, 0.5])
async def random_packets_arrive_in_order_both_ways(dut: Any, delay: int, gap: float, stall: float) -> None:
    bench = Bench(dut, cfg_delay=delay)
    for end in "ab":
        bench.sources[end].gaps = sometimes(gap, bench.rng)
        bench.sinks[end].stalls = sometimes(stall, bench.rng)
    await bench.start()
    for _ in range(6):
        bench.send("a", bench.packet())
        bench.send("b", bench.packet())
    await bench.settle()
    assert set(bench.seen) == set()


@cocotb.test(timeout_time=20, timeout_unit="ms")
@cocotb.parametrize(delay=[0, 5, 10])
async def a_stream_flows_at_one_character_an_edge(dut: Any, delay: int) -> None:
    bench = Bench(dut, cfg_delay=delay, cfg_beat_period=0)
    await bench.start()
    bench.send("a", bench.rng.randbytes(600))
    bench.send("a", bench.rng.randbytes(30))
    await bench.settle()
    times = bench.sinks["b"].times
    assert times == list(range(times[0], times[0] + 632))
    first = bench.wire["a"][0][0]
    assert times[0] - first == delay + 1, "wire to stream takes one edge and the cable"


@cocotb.test(timeout_time=20, timeout_unit="ms")
@cocotb.parametrize(delay=[0, 4, 10])
async def long_stalls_stop_the_sender_and_lose_nothing(dut: Any, delay: int) -> None:
    bench = Bench(dut, cfg_delay=delay, cfg_beat_period=64)
    for end in "ab":
        bench.sinks[end].stalls = bursts(bench.rng)
    await bench.start()
    highest = 0

    def watch(now: int) -> None:
        nonlocal highest
        fill = int(dut.fill.value)
        highest = max(highest, fill & 0xFF, fill >> 8)

    bench.grid.samplers.append(watch)
    for _ in range(12):
        bench.send("a", bench.packet(400))
        bench.send("b", bench.packet(400))
    await bench.settle()
    assert bench.symbols("a", Symbol.STOP) and bench.symbols("b", Symbol.GO)
    assert 56 <= highest <= 80
    assert set(bench.seen) == set()


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def stop_comes_at_its_mark_is_repeated_and_go_comes_at_its_own(dut: Any) -> None:
    bench = Bench(dut, cfg_delay=0, cfg_beat_period=0)
    gate = Gate()
    bench.sinks["b"].stalls = gate
    await bench.start()
    bench.send("a", bench.rng.randbytes(300))
    await bench.grid.run(200)
    stops = bench.symbols("b", Symbol.STOP)
    sent_before = [now for now, _ in bench.wire["a"] if now < stops[0]]
    assert len(sent_before) in {57, 58}, "STOP is on the wire right after the 56th character was stored"
    multiples = on_netlist() or all(now % 8 == 1 for now in stops[1:])  # hardware counts edges from its reset
    assert multiples, "repeated at multiples of 8, visible one grid point later"
    assert [later - earlier for earlier, later in pairwise(stops[1:])] == [8] * (len(stops) - 2)
    held = int(dut.fill.value) >> 8
    assert 56 <= held <= 62
    gate.closed = False
    await bench.settle()
    go = bench.symbols("b", Symbol.GO)[0]
    taken = [now for now in bench.sinks["b"].times if now < go]
    assert held - len(taken) in {39, 40}, "GO is on the wire right after the fill fell to 40"


async def _episode(dut: Any, sleeping: bool, delay: int, seed: int) -> tuple[list[int], list[int], Any, int]:
    """Run bursts of packets, silences and blocked times; return each end's output with times, and the edges used."""
    bench = Bench(dut, sleeping=sleeping, cfg_delay=delay, cfg_beat_period=70, cfg_long_timeout=900)
    rng = random.Random(seed)
    for end in "ab":
        bench.sinks[end].stalls = bursts(random.Random(rng.random()))
    await bench.start(at=rng.randint(0, 1000))
    for _ in range(8):
        for end in "ab":
            if rng.random() < 0.7:
                bench.send(end, rng.randbytes(rng.randint(1, 250)))
        await bench.grid.run(rng.choice([10, 200, 900]))
    await bench.settle()
    data = [[entry for entry in bench.wire[end] if entry[1] & 0x100 or entry[1] == int(Symbol.GAP)] for end in "ab"]
    return bench.sinks["a"].times, bench.sinks["b"].times, (data, bench.seen, bench.got), bench.grid.edges


@cocotb.test(timeout_time=60, timeout_unit="ms")
@cocotb.parametrize(delay=[0, 7])
@sleeping_clocks()
async def asleep_or_awake_every_character_has_its_time(dut: Any, delay: int) -> None:
    seed = random.Random(cocotb.RANDOM_SEED).randint(0, 1 << 30)
    awake = await _episode(dut, False, delay, seed)
    asleep = await _episode(dut, True, delay, seed)
    assert asleep[:3] == awake[:3]
    assert asleep[3] < awake[3], "it never slept"


@cocotb.test(timeout_time=20, timeout_unit="ms")
@sleeping_clocks()
async def two_blocked_ends_sleep(dut: Any) -> None:
    for delay in range(9):
        bench = Bench(dut, sleeping=True, cfg_delay=delay, cfg_beat_period=1600)
        for end in "ab":
            bench.sinks[end].stalls = repeat(True)
        await bench.start()
        for end in "ab":
            bench.send(end, bench.rng.randbytes(300))
        await bench.grid.run(400)
        edges = bench.grid.edges
        await bench.grid.run(1000)
        assert bench.grid.edges - edges <= 2 * (delay + 8), "blocked and motionless, the network sleeps"
