"""SP switch against a functional model.

Strategy: as for the crossbar, character-level drivers send random packets into every port and obey STOP and GO. A
scoreboard compares the output with the model per pair of input and output: bytes, CRC-8, order. The central queue has
many sizes, down to zero; its fill may never exceed its size, and is zero at the end. With the queue, packets overtake a
blocked one; without it they wait. The same episode is run with free-running and gated clocks, and every character must
have the same time.
"""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import cocotb

from pymodels.formats.sp import HEADER_BYTES, VIA_BYTES, parse
from pymodels.link.characters import DATA, Symbol
from pymodels.switch.crossbar import Fate, head_of_line_limit
from tb.agents.streams import sometimes
from tests.block.cases import cases
from tests.block.netlists import sleeping_clocks
from tests.block.sp_switch_bench import CHUNK, SpBench
from tests.block.switch_bench import (
    Bench,
    first_character,
    illegal_characters,
    random_crcs,
    random_routes,
    sleeping_changes_nothing,
)

AROUND = HEADER_BYTES + VIA_BYTES + 1
"""Characters of a packet without user data and GAP."""


@cocotb.test(timeout_time=20, timeout_unit="ms")
@cases(gap=[0.0, 0.4], stall=[0.0, 1.0], queue=[0, 3, 512])
async def random_packets_reach_their_outputs_in_order(dut: Any, gap: float, stall: float, queue: int) -> None:
    fall_through = random.Random(cocotb.RANDOM_SEED).choice([0, 13, 39])
    bench = SpBench(dut, cfg_central_chunks=queue, cfg_fall_through=fall_through)
    for lane in bench.driver.lanes:
        lane.gaps = sometimes(gap, bench.rng)
    if stall:
        bench.stall(stall)
    await bench.grid.reset()
    for _ in range(6):
        bench.send_random()
    await bench.settle()
    assert (bench.peak > 0) == (queue > 0)


@cocotb.test(timeout_time=20, timeout_unit="ms")
@cocotb.parametrize(queue=[1, 20, 512])
async def long_packets_to_few_outputs_lose_nothing_when_the_queue_is_full(dut: Any, queue: int) -> None:
    bench = SpBench(dut, cfg_central_chunks=queue)
    await bench.grid.reset()
    for _ in range(3):
        for source in range(bench.ports):
            size = bench.rng.choice([0, 7, 8, 300])
            bench.send(source, bench.wire(source, bench.rng.choice([2, 5]), size))
    await bench.settle()
    assert queue in (bench.peak, 512)
    assert sum(bench.counter("queued")) > 12


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def a_wrong_crc_stays_visible_and_a_good_one_good(dut: Any) -> None:
    """Flip any bit except those by which the bench recognises a packet's path and source."""
    await random_crcs(SpBench(dut), lambda length: [1, 7, *range(10, 19), *range(20, length)])


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def an_illegal_character_is_reported_at_its_port_and_ignored(dut: Any) -> None:
    await illegal_characters(SpBench(dut))


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def bad_routes_and_absent_ports_are_consumed_and_counted(dut: Any) -> None:
    await random_routes(SpBench(dut, present=0b1101_1011))


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def route_bytes_are_consumed_one_by_one(dut: Any) -> None:
    """Send the same packet repeatedly, as through eight switches in a row; the ninth finds no route byte."""
    bench = SpBench(dut)
    await bench.grid.reset()
    steps = (2, 2, -3, 0, 1, -2, 3, 1)
    packet, port = bench.sp_packet(1, 3, 9, *steps[1:]), 1
    for left, step in zip(range(7, -1, -1), steps, strict=True):
        bench.send(port, replace(packet, source=port, via=(port, 0)).to_wire())
        port += step
        await bench.grid.run(60)
        assert bench.received[-1][1] == port
        packet = parse(bench.received[-1][2]).packet
        assert len(packet.route) == left
    assert bench.send(port, packet.to_wire()) is Fate.BAD_ROUTE
    await bench.settle()


@cocotb.test(timeout_time=20, timeout_unit="ms")
@cases(fall_through=[0, 1, 39], sleeping=[False, True])
async def cut_through_takes_three_edges_and_the_falling_latency(dut: Any, fall_through: int, sleeping: bool) -> None:
    bench = SpBench(dut, sleeping, cfg_fall_through=fall_through)
    assert await first_character(bench, 2) == 3 + max(fall_through, 1)
    assert not any(bench.counter("queued")), "nothing was in its way"


@cocotb.test(timeout_time=20, timeout_unit="ms")
@cocotb.parametrize(fall_through=[0, 39])
async def back_to_back_packets_fall_only_once(dut: Any, fall_through: int) -> None:
    bench = SpBench(dut, cfg_fall_through=fall_through)
    await bench.grid.reset()
    for _ in range(10):
        for source in range(bench.ports):
            bench.send(source, bench.wire(source, (source + 1) % bench.ports, 60))
    await bench.settle()
    for monitor in bench.monitors:
        times = [now for now, _ in monitor.log_of_data]
        lost = times[-1] - times[0] + 1 - 10 * (AROUND + 60 + 1)
        assert lost <= 10 * 4, "a packet's first byte cannot follow the GAP at once: its request takes some edges"


@cocotb.test(timeout_time=20, timeout_unit="ms")
@cocotb.parametrize(queue=[0, 512])
async def packets_overtake_a_blocked_one_while_the_queue_has_room(dut: Any, queue: int) -> None:
    bench = SpBench(dut, cfg_central_chunks=queue)
    await bench.grid.reset()
    bench.driver.lanes[3].characters.append(int(Symbol.STOP))
    await bench.grid.run(8)
    for source in (1, 0):
        bench.send(source, bench.wire(source, 3, 200))
    bench.send(0, bench.wire(0, 5, 40))

    def refresh(now: int) -> None:
        if now % 8 == 0 and not free:
            bench.driver.lanes[3].characters.appendleft(int(Symbol.STOP))

    free: list[bool] = []
    bench.grid.drivers.insert(0, refresh)
    await bench.grid.run(600)
    past = [(source, output) for source, output, _ in bench.received]
    assert past == ([(0, 5)] if queue else [])
    if queue:
        chunks = 2 * -(-(AROUND + 200) // CHUNK)
        assert chunks - 2 <= bench.peak <= chunks, "both wait in the queue, two chunks of them at the output"
    free.append(True)
    bench.driver.lanes[3].characters.append(int(Symbol.GO))
    await bench.settle()


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def a_full_queue_stops_the_links_and_no_output(dut: Any) -> None:
    bench = SpBench(dut, cfg_central_chunks=8)
    await bench.grid.reset()
    for _ in range(2):
        for source in range(4):
            bench.send(source, bench.wire(source, 6, 400))
    bench.send(7, bench.wire(7, 4, 400))
    await bench.grid.run(300)
    assert bench.peak == 8
    stopped = [lane.stopped for lane in bench.driver.lanes]
    assert sum(stopped[:4]) == 3, "one of them has the output"
    assert not stopped[7]
    await bench.settle()
    times = [now for now, character in bench.monitors[6].log_of_data if character & DATA]
    assert len(times) / (times[-1] - times[0] + 1) > 0.85, "output 6 had something to send nearly all the time"


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def waiting_packets_leave_without_a_gap_between_them(dut: Any) -> None:
    bench = SpBench(dut)
    await bench.grid.reset()
    for source in range(5):
        bench.send(source, bench.wire(source, 6, 71))
    await bench.settle()
    times = [now for now, _ in bench.monitors[6].log_of_data]
    assert times[-1] - times[0] + 1 == 5 * (AROUND + 71 + 1)


async def _accepted(dut: Any, queue: int) -> float:
    """Return the characters delivered per port and clock under uniform saturating traffic of 101-character packets."""
    bench = SpBench(dut, cfg_central_chunks=queue, cfg_fall_through=39)
    await bench.grid.reset()
    for source in range(bench.ports):
        for _ in range(30):
            bench.send(source, bench.wire(source, bench.rng.randrange(bench.ports), 76))
    await bench.grid.run(600)
    before = sum(len(monitor.log_of_data) for monitor in bench.monitors)
    await bench.grid.run(1500)
    return (sum(len(monitor.log_of_data) for monitor in bench.monitors) - before) / (1500 * bench.ports)


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def a_central_queue_lifts_the_limit_of_a_queue_at_each_input(dut: Any) -> None:
    """Check that without a queue the limit is that of input queueing (Karol, Hluchyj, Morgan)."""
    without, with_it = await _accepted(dut, 0), await _accepted(dut, 512)
    dut._log.info("accepted load %.3f, with the central queue %.3f", without, with_it)
    assert without < head_of_line_limit(int(dut.PORTS.value.to_unsigned())) + 0.08
    assert with_it > 0.75


@cocotb.test(timeout_time=60, timeout_unit="ms")
@cocotb.parametrize(run=[0, 1, 2])
@sleeping_clocks()
async def asleep_or_awake_every_character_has_its_time(dut: Any, run: int) -> None:
    def made(sleeping: bool, rng: random.Random) -> Bench:
        settings = {"cfg_short_timeout": 0, "cfg_central_chunks": rng.choice([0, 6, 200])}
        return SpBench(dut, sleeping, cfg_fall_through=rng.choice([0, 39]), **settings)

    await sleeping_changes_nothing(made, run, bursts=4, most=0.9)
