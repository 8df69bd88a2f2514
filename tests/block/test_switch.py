"""Crossbar switch against a functional model.

Strategy: character-level drivers send random packets into every port and obey STOP and GO. A monitor per output decodes
packets. A scoreboard compares bytes and CRC-8, per pair of input and output, with the expected packets of the model in
pymodels. Receivers stall by STOP and GO of their own. Bad routes, absent ports, wrong CRCs and cut packets are mixed
in. The same episode is run with free-running and gated clocks, and every character must have the same time.
"""

from __future__ import annotations

import random
from itertools import pairwise
from typing import Any

import cocotb

from pymodels.link.characters import Symbol, packet_characters
from pymodels.link.crc8 import crc8
from pymodels.link.packet import Packet, route_byte
from tb.agents.streams import sometimes
from tests.block.cases import cases
from tests.block.netlists import sleeping_clocks
from tests.block.switch_bench import (
    Bench,
    first_character,
    illegal_characters,
    random_crcs,
    random_routes,
    sleeping_changes_nothing,
)


@cocotb.test(timeout_time=20, timeout_unit="ms")
@cases(gap=[0.0, 0.4], stall=[0.0, 1.0], fall_through=[0, 13])
async def random_packets_reach_their_outputs_in_order(dut: Any, gap: float, stall: float, fall_through: int) -> None:
    bench = Bench(dut, cfg_fall_through=fall_through)
    for lane in bench.driver.lanes:
        lane.gaps = sometimes(gap, bench.rng)
    if stall:
        bench.stall(stall)
    await bench.grid.reset()
    for _ in range(6):
        bench.send_random()
    await bench.settle()


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def a_wrong_crc_stays_visible_and_a_good_one_good(dut: Any) -> None:
    await random_crcs(Bench(dut), lambda length: range(5, length))


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def an_illegal_character_is_reported_at_its_port_and_ignored(dut: Any) -> None:
    await illegal_characters(Bench(dut))


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def bad_routes_and_absent_ports_are_consumed_and_counted(dut: Any) -> None:
    await random_routes(Bench(dut, present=0b1011 if int(dut.PORTS.value.to_unsigned()) == 4 else 0b1101_1011))


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def several_route_bytes_are_consumed_one_by_one(dut: Any) -> None:
    bench = Bench(dut)
    await bench.grid.reset()
    inner = bench.packet(1, 2, 9)
    wire = Packet(bytes([route_byte(2), route_byte(-3), route_byte(0)]), inner.kind, inner.payload).to_wire()
    for character in packet_characters(wire):
        bench.driver.lanes[1].characters.append(character)
    got: list[bytes] = []
    bench.monitors[3].add_callback(got.append)
    bench.checker.expected.clear()
    bench.expected[3, 3] = []
    for monitor in bench.monitors:
        monitor._callbacks = [callback for callback in monitor._callbacks if callback == got.append]
    await bench.grid.run(80)
    assert got == [bench.model.passage(1, wire).wire]
    assert crc8(got[0]) == 0 and got[0][:2] == wire[1:3]
    assert bench.traced("key")[1] == inner.kind, "the key starts behind the last route byte"


@cocotb.test(timeout_time=20, timeout_unit="ms")
@cases(fall_through=[0, 1, 30], sleeping=[False, True])
async def cut_through_takes_four_edges_and_the_falling_latency(dut: Any, fall_through: int, sleeping: bool) -> None:
    bench = Bench(dut, sleeping, cfg_fall_through=fall_through, cfg_beat_period=0)
    assert await first_character(bench, 2) == 4 + fall_through


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def back_to_back_packets_cost_only_their_route_byte(dut: Any) -> None:
    bench = Bench(dut, cfg_beat_period=0)
    await bench.grid.reset()
    for _ in range(10):
        for source in range(bench.ports):
            bench.send(source, bench.packet(source, (source + 1) % bench.ports, 20).to_wire())
    await bench.settle()
    for monitor in bench.monitors:
        times = [now for now, _ in monitor.log_of_data]
        assert times[-1] - times[0] + 1 == 10 * 26 + 9, "26 characters leave, the 27th slot was the route byte"


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def an_output_serves_its_inputs_in_turn(dut: Any) -> None:
    bench = Bench(dut)
    await bench.grid.reset()
    for _ in range(5):
        for source in range(bench.ports):
            bench.send(source, bench.packet(source, 2, 30).to_wire())
    await bench.settle()
    order = [source for source, _, _ in bench.received]
    assert order == [source for _ in range(5) for source in range(bench.ports)]
    gaps = [now for now, character in bench.monitors[2].log_of_data if character == int(Symbol.GAP)]
    packets = [later - earlier for earlier, later in pairwise(gaps)]
    assert min(packets) == 36, "no slot is lost between two inputs"
    assert max(packets) <= 36 + 36 // 7 + 3, "36 characters a packet; a STOP takes every eighth slot, GO or BEAT one"


@cocotb.test(timeout_time=20, timeout_unit="ms")
@cases(sleeping=[False, True], begun=[0, 40])
async def a_packet_blocked_too_long_is_cut_and_its_path_freed(dut: Any, sleeping: bool, begun: int) -> None:
    bench = Bench(dut, sleeping=sleeping, cfg_long_timeout=400, cfg_short_timeout=0)
    await bench.grid.reset()
    stuck = bench.packet(0, 3, 300).to_wire()
    bench.driver.lanes[0].characters.extend(packet_characters(stuck))
    await bench.grid.run(begun)
    bench.driver.lanes[3].characters.append(int(Symbol.STOP))
    bench.expected.clear()
    monitor = bench.monitors[3]
    got: list[bytes] = []
    monitor._callbacks = [got.append]
    await bench.grid.run(1200)
    assert bench.counter("forward_reset") == [int(port == 3) for port in range(bench.ports)]
    assert bench.driver.idle, "the rest of the packet was consumed"
    bench.driver.lanes[3].characters.append(int(Symbol.GO))
    freed = bench.grid.now
    await bench.grid.run(20)
    gaps = [now - freed for now, character in monitor.log_of_data if character == int(Symbol.GAP)]
    assert gaps == [3] * (begun > 0), "it leaves when GO has come, though nothing else moves"
    follower = bench.packet(1, 3, 20).to_wire()
    bench.driver.lanes[1].characters.extend(packet_characters(follower))
    await bench.grid.run(200)
    head = bench.model.passage(0, stuck).wire
    *cut, last = got
    assert last == bench.model.passage(1, follower).wire
    assert len(cut) == (begun > 0) and all(head.startswith(part) for part in cut), "what had left ends with a GAP"


@cocotb.test(timeout_time=60, timeout_unit="ms")
@cocotb.parametrize(run=[0, 1, 2])
@sleeping_clocks()
async def asleep_or_awake_every_character_has_its_time(dut: Any, run: int) -> None:
    def made(sleeping: bool, rng: random.Random) -> Bench:
        settings = {"cfg_beat_period": 90, "cfg_short_timeout": 0, "cfg_long_timeout": 600}
        return Bench(dut, sleeping, cfg_fall_through=rng.choice([0, 25, 60]), **settings)

    await sleeping_changes_nothing(made, run, bursts=5, most=0.8)
