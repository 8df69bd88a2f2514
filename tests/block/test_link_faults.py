"""Two link ports with faults between them.

Strategy: characters are forced on the wires and receivers are held closed at chosen times. Time-outs must act at the
character given in the fact sheet, and losses must match it. BEATs must be missed at the same grid points with gated and
free-running clocks. Scenarios in which the clock may stop are also run with a gated clock.
"""

from __future__ import annotations

import random
from itertools import pairwise, repeat
from typing import Any

import cocotb

from pymodels.link.characters import Symbol
from pymodels.profiles import load_profile
from tb.plan.limits import longest_cable
from tests.block.cases import some
from tests.block.link_pair import Bench, Gate
from tests.block.netlists import on_netlist, sleeping_clocks


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def without_go_or_refresh_the_sender_continues_after_the_short_timeout(dut: Any) -> None:
    bench = Bench(dut, cfg_delay=0, cfg_lasting=0, cfg_beat_period=0)
    await bench.start()
    bench.send("a", bench.rng.randbytes(60))
    await bench.grid.run(20)
    bench.forced["ba"].append(int(Symbol.STOP))
    await bench.settle()
    (event,) = bench.seen["ev_short_timeout"]
    data = [now for now, character in bench.wire["a"] if character & 0x100]
    pause = max(later - earlier for earlier, later in pairwise(data))
    assert event[1] == 1 and pause == 17, f"16 characters without STOP, not {pause}"


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def refreshes_and_a_lasting_stop_each_keep_the_short_timeout_away(dut: Any) -> None:
    for lasting in (0, 1):
        bench = Bench(dut, cfg_lasting=lasting, cfg_refresh=0 if lasting else 8, cfg_beat_period=0)
        gate = Gate()
        bench.sinks["b"].stalls = gate
        await bench.start()
        bench.send("a", bench.rng.randbytes(200))
        await bench.grid.run(400)
        assert int(dut.stopped.value) & 1 and set(bench.seen) == set()
        gate.closed = False
        await bench.settle()


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def a_lost_go_is_replaced_by_the_short_timeout_also_after_a_lasting_stop(dut: Any) -> None:
    for sleeping in (False, True):
        bench = Bench(dut, sleeping=sleeping, cfg_delay=0, cfg_beat_period=0)
        gate = Gate()
        bench.sinks["b"].stalls = gate
        await bench.start()
        bench.send("a", bench.rng.randbytes(150))
        await bench.grid.run(300)
        gate.closed = False
        bench.forced["ba"].extend([0] * 60)
        await bench.settle()
        assert [value for _, value in bench.seen["ev_short_timeout"]] == [1]


@cocotb.test(timeout_time=20, timeout_unit="ms")
@cocotb.parametrize(sleeping=[False, True])
async def the_short_timeout_runs_from_a_go_that_alone_is_lost(dut: Any, sleeping: bool) -> None:
    bench = Bench(dut, sleeping=sleeping, cfg_delay=0, cfg_beat_period=0)
    gate = Gate()
    bench.sinks["b"].stalls = gate
    await bench.start()
    bench.send("a", bench.rng.randbytes(150))
    await bench.grid.run(300)
    lost: list[int] = []

    def hide(now: int) -> None:
        if int(dut.b_tx.value) == int(Symbol.GO) and not lost:
            lost.append(now)
            bench.forced["ba"].append(int(Symbol.IDLE))

    bench.grid.drivers.insert(0, hide)
    gate.closed = False
    await bench.settle()
    assert bench.seen["ev_short_timeout"] == [(lost[0] + 1 + 16, 1)]


@cocotb.test(timeout_time=20, timeout_unit="ms")
@cocotb.parametrize(sleeping=[False, True])
@sleeping_clocks("sleeping")
async def a_packet_blocked_for_the_long_timeout_is_cut_and_the_next_one_passes(dut: Any, sleeping: bool) -> None:
    bench = Bench(dut, sleeping=sleeping, cfg_delay=2, cfg_long_timeout=500)
    gate = Gate()
    bench.sinks["b"].stalls = gate
    await bench.start()
    first, second = bench.rng.randbytes(400), bench.rng.randbytes(20)
    bench.sources["a"].send(first)
    await bench.grid.run(700)
    gate.closed = False
    await bench.grid.run(500)
    bench.sources["a"].send(second)
    await bench.grid.run(300)
    cut, whole = bench.got["b"]
    assert first.startswith(cut) and 56 <= len(cut) <= 80, "the head arrives with a GAP behind it"
    assert whole == second, "the rest of the cut packet is discarded up to its tail"
    ((at, which),) = bench.seen["ev_forward_reset"]
    stop = bench.symbols("b", Symbol.STOP)[0]
    assert which == 1 and at == stop + 2 + 1 + 500, "500 characters after the STOP took effect"


async def first_stop(dut: Any, settings: dict[str, int], wire: bytes) -> int:
    """Return the edge at which end b, whose sink is blocked, sends its first STOP, without BEATs."""
    bench = Bench(dut, False, **settings, cfg_beats=0)
    bench.sinks["b"].stalls = repeat(True)
    await bench.start(at=1)
    bench.sources["a"].send(wire)
    await bench.grid.run(200)
    return bench.symbols("b", Symbol.STOP)[0] - 1


@cocotb.test(timeout_time=20, timeout_unit="ms")
@cocotb.parametrize(name=["lanai9", "lanai4"], sleeping=[False, True])
@sleeping_clocks("sleeping")
async def a_packet_cut_under_stop_keeps_to_the_room_of_the_longest_cable(dut: Any, name: str, sleeping: bool) -> None:
    profile = load_profile(name)
    settings = {f"cfg_{key}": profile.integer(f"link.{key}") for key in ("slack", "stop_mark", "go_mark", "refresh")}
    settings["cfg_delay"] = profile.cable_characters(longest_cable(profile))
    first, second = random.Random(1).randbytes(400), b"next"
    beat_period = await first_stop(dut, settings, first)
    bench = Bench(dut, sleeping, **settings, cfg_beat_period=beat_period, cfg_beats=2, cfg_long_timeout=500)
    gate = Gate()
    bench.sinks["b"].stalls = gate
    await bench.start(at=1)
    for wire in (first, second):
        bench.sources["a"].send(wire)
    await bench.grid.run(beat_period + 550)
    assert bench.symbols("b", Symbol.BEAT)[0] == bench.symbols("b", Symbol.STOP)[0] - 1, "BEAT had the slot of STOP"
    assert bench.seen["ev_forward_reset"], "the packet was cut while STOP was in force"
    assert int(dut.fill.value) >> 8 == settings["cfg_slack"], "the cable uses the room to its last character"
    gate.closed = False
    await bench.grid.run(400)
    assert "ev_overflow" not in bench.seen
    assert bench.got["b"] == [first[: settings["cfg_slack"]], second]


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def a_starved_packet_is_cut_too_and_its_late_rest_is_discarded(dut: Any) -> None:
    bench = Bench(dut, cfg_delay=0, cfg_long_timeout=300)
    await bench.start()
    bench.sources["a"].beats.extend((0, byte) for byte in b"lost tail")
    await bench.grid.run(500)
    assert bench.got["b"] == [b"lost tail"]
    bench.sources["a"].send(b"late rest")
    bench.sources["a"].send(b"next")
    await bench.grid.run(100)
    assert bench.got["b"] == [b"lost tail", b"next"]


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def beat_is_sent_at_multiples_of_its_period_also_within_packets(dut: Any) -> None:
    bench = Bench(dut, cfg_beat_period=100, cfg_delay=1)
    await bench.start(at=1 if on_netlist() else 30)  # hardware counts: the first edge after reset is number 1
    for end in "ab":
        bench.send(end, bench.rng.randbytes(350))
    await bench.settle()
    for end in "ab":
        beats = bench.symbols(end, Symbol.BEAT)
        assert beats == list(range(101, beats[-1] + 1, 100)) and len(beats) >= 3
    assert int(dut.beat_seen.value) == 3 and int(dut.beat_missed.value) == 0 and int(dut.link_down.value) == 0


@cocotb.test(timeout_time=20, timeout_unit="ms")
@cocotb.parametrize(sleeping=[False, True])
@sleeping_clocks("sleeping")
async def beats_that_data_hide_are_missed_and_the_third_is_link_down(dut: Any, sleeping: bool) -> None:
    bench = Bench(dut, sleeping, cfg_beat_period=50, cfg_delay=0)
    await bench.start()
    bench.send("a", bench.rng.randbytes(900))
    await bench.grid.run(120)

    def drop(now: int) -> None:
        if int(dut.a_tx.value) == int(Symbol.BEAT):
            dut.ab_char.value = 0x155
            dut.ab_force.value = 1

    bench.grid.drivers.append(drop)
    await bench.grid.run(60)
    assert int(dut.beat_missed.value) == 2 and int(dut.link_down.value) == 0
    await bench.grid.run(120)
    assert int(dut.link_down.value) == 2
    bench.grid.drivers.remove(drop)
    await bench.grid.run(60)
    assert int(dut.beat_missed.value) == 0 and int(dut.link_down.value) == 0


LOSSES = (4, 54, 0, 260, 3, 5, 53, 55, 103, 104, 150, 204)
"""Characters lost from grid point 301 on: with a period of 50 and a delay of 3, BEATs arrive 4 after its multiples."""


async def levels_around(dut: Any, sleeping: bool, forced: list[int | None]) -> tuple[list[Any], int]:
    """Return the levels at end b as (grid point, seen, missed, down), with `forced` from 300 on, and the edges used."""
    bench = Bench(dut, sleeping, cfg_beat_period=50)
    seen: list[Any] = []

    def look(now: int) -> None:
        levels = tuple(int(dut[name].value) >> 1 for name in ("beat_seen", "beat_missed", "link_down"))
        if not seen or seen[-1][1:] != levels:
            seen.append((now, *levels))

    await bench.start(at=10)
    bench.grid.samplers.append(look)
    await bench.grid.run(290)
    bench.forced["ab"].extend(forced)
    await bench.grid.run(700)
    return seen, bench.grid.edges


@cocotb.test(timeout_time=200, timeout_unit="ms")
@cocotb.parametrize(character=some([0x000, 0x144]))
@sleeping_clocks()
async def a_beat_lost_on_an_idle_link_is_missed_as_on_a_running_one(dut: Any, character: int) -> None:
    most = 0
    for points in some(LOSSES):
        awake, always = await levels_around(dut, False, [character] * points)
        asleep, edges = await levels_around(dut, True, [character] * points)
        assert awake == asleep, f"{points} characters"
        assert edges < always / 2
        hit = sum(301 <= slot < 301 + points for slot in range(304, 1000, 50))
        told = [(0, 0, 0), (1, 0, 0), *[(1, 1, 0)] * (hit > 0), *[(1, 1, 1)] * (hit > 2), *[(1, 0, 0)] * (hit > 0)]
        assert [levels[1:] for levels in awake] == told, "unseen, seen, missed, down, back"
        most = max(most, hit)
    assert most >= 5


@cocotb.test(timeout_time=20, timeout_unit="ms")
@cocotb.parametrize(sleeping=[False, True])
@sleeping_clocks("sleeping")
async def a_character_like_a_beat_between_two_beats_causes_no_miss(dut: Any, sleeping: bool) -> None:
    seen, _ = await levels_around(dut, sleeping, [*[None] * 20, int(Symbol.BEAT)])
    assert [levels[1:] for levels in seen] == [(0, 0, 0), (1, 0, 0)]
    assert seen[1][0] == 50 + 3 + 2, "sent at 50, three characters under way, sampled, seen"


@cocotb.test(timeout_time=20, timeout_unit="ms")
@sleeping_clocks()
async def an_idle_peer_is_not_reported_missing(dut: Any) -> None:
    bench = Bench(dut, sleeping=True, cfg_beat_period=50)
    await bench.start()
    for _ in range(5):
        bench.send("a", bench.packet(60))
        await bench.settle()
        await bench.grid.run(bench.rng.randint(10, 400))
    assert int(dut.beat_missed.value) == 0 and int(dut.link_down.value) == 0


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def illegal_characters_are_counted_and_ignored_and_tolerated_ones_obeyed(dut: Any) -> None:
    bench = Bench(dut, cfg_delay=0, cfg_lasting=0, cfg_beat_period=0, cfg_short_timeout=0)
    await bench.start()
    bench.forced["ab"].extend([0x001, 0x0FF, 0x00C, 0x00C, 0x008])
    await bench.grid.run(10)
    assert [value for _, value in bench.seen["ev_illegal"]] == [2, 2]
    assert bench.got["b"] == [], "a GAP outside a packet is ignored"
    assert int(dut.stopped.value) == 2, "0x08 is STOP"
    bench.forced["ab"].append(0x002)
    await bench.grid.run(4)
    assert int(dut.stopped.value) == 0, "0x02 is GO"


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def a_sender_that_ignores_stop_overflows_the_slack_and_is_reported(dut: Any) -> None:
    bench = Bench(dut, cfg_delay=0, cfg_lasting=0, cfg_beat_period=0)
    bench.sinks["b"].stalls = repeat(True)
    await bench.start()
    bench.forced["ab"].extend([0x1A5] * 90)
    await bench.grid.run(100)
    assert int(dut.fill.value) >> 8 == 80
    assert len(bench.seen["ev_overflow"]) == 10
