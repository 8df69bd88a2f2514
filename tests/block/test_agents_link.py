"""Link agents of sanlab.agents around a link port of this tree that sends back what it receives.

Strategy: the port was written and proved without these agents. Random packets with gaps and stalls must return in
order. STOP and GO work in both directions. Each fault of a source or a sink is injected once. A monitor, the other
agent or the port's own status must report it.
"""

from __future__ import annotations

import random
from itertools import chain, repeat
from typing import Any

import cocotb
import pytest
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles

from pymodels.settings import LINK
from tb.agents.settings import SettingsPort, drive
from tb.agents.streams import sometimes
from tb.agents.wires import MissingWiresError
from tb.sanlab.agents import myrinet
from tests.block.bundles import lanes
from tests.block.cases import cases, some
from tests.block.link_pair import DEFAULTS

SETTINGS = {name: value for name, value in DEFAULTS.items() if name not in {"cfg_delay", "cfg_lasting", "cfg_beats"}}


class Bench:
    """Port with source and sink, and a monitor on each direction."""

    def __init__(self, dut: Any, settings: dict[str, int], **sink: Any) -> None:
        self.dut = dut
        self.rng = random.Random(cocotb.RANDOM_SEED)
        drive(dut, {**SETTINGS, **settings, "hold": 0}, [SettingsPort(dut.cfg, LINK)])
        dut.rst.value = 1
        Clock(dut.clk, 10, unit="ns", impl="gpi").start(start_high=False)
        self.link = myrinet.Link.from_prefix(dut)
        given = (self.link, dut.clk, dut.rst)
        self.source = myrinet.LinkSource(*given)
        self.sink = myrinet.LinkSink(*given, **sink)
        self.sent = myrinet.LinkMonitor(*given, "rx", strict=False)
        self.returned = myrinet.LinkMonitor(*given, "tx", strict=False)

    def packet(self, longest: int = 100) -> myrinet.Packet:
        """Return a random packet."""
        rng, route = self.rng, bytes([myrinet.route_byte(1)])
        return myrinet.Packet(route, rng.randrange(1 << 31), rng.randbytes(rng.randint(0, longest)))

    def status(self, field: str) -> int:
        """Return a field of the port's status."""
        return lanes(int(self.dut.status.value), "link/myri_link_pkg", "link_status_t", field, 1)[0]

    async def count(self, field: str, clocks: int) -> int:
        """Return the number of clocks with a field of the status set."""
        found = 0
        for _ in range(clocks):
            await ClockCycles(self.dut.clk, 1)
            found += self.status(field)
        return found


async def begin(dut: Any, settings: dict[str, int] | None = None, **sink: Any) -> Bench:
    bench = Bench(dut, settings or {}, **sink)
    await ClockCycles(dut.clk, 4)
    dut.rst.value = 0
    await ClockCycles(dut.clk, 2)
    return bench


@cocotb.test(timeout_time=1, timeout_unit="ms")
@cases(gap=[0.0, 0.3], stall=[0.0, 0.6])
async def random_packets_return_in_order(dut: Any, gap: float, stall: float) -> None:
    bench = await begin(dut)
    bench.source.gaps = sometimes(gap, bench.rng)
    bench.sink.stalls = sometimes(stall, bench.rng)
    packets = [bench.packet() for _ in some(range(20))]
    for packet in packets:
        bench.source.queue(packet)
    for packet in packets:
        received = await bench.sink.receive()
        assert (received.packet, received.syndrome) == (packet, 0)
    assert bench.source.idle and bench.sink.empty
    assert [packet.wire for packet in bench.returned.packets] == [packet.to_wire() for packet in packets]
    assert not bench.sent.violations and not bench.returned.violations
    assert any(packet.gaps for packet in bench.sent.packets) == bool(gap or stall)


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def data_with_the_codes_of_stop_and_go_are_data(dut: Any) -> None:
    bench = await begin(dut)
    codes = bytes([myrinet.Symbol.STOP, myrinet.Symbol.GAP, 0x08, myrinet.Symbol.IDLE])
    for _ in range(2):
        bench.source.queue(codes * 20)
    assert [await bench.sink.receive_wire() for _ in range(2)] == [codes * 20] * 2
    assert bench.source.stopped_clocks == 0 and bench.sent.packets[-1].stopped == 0
    controls = {symbol for _, symbol in bench.sent.controls + bench.returned.controls}
    assert controls <= {myrinet.Symbol.BEAT}


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def a_full_port_stops_the_source(dut: Any) -> None:
    bench = await begin(dut)
    dut.hold.value = 1
    task = cocotb.start_soon(bench.source.send(bytes(200)))
    await ClockCycles(dut.clk, 150)
    assert bench.source.stopped and bench.source.stopped_clocks > 50 and bench.status("fill") < 80
    dut.hold.value = 0
    await task
    assert await bench.sink.receive_wire() == bytes(200)
    assert bench.sent.packets[0].stopped > 50 and bench.sent.violations == []


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def a_stalled_sink_stops_the_port(dut: Any) -> None:
    bench = await begin(dut)
    bench.sink.stalls = chain(repeat(True, 300), repeat(False))
    bench.source.queue(bytes(120))
    await ClockCycles(dut.clk, 250)
    assert bench.sink.stopping and 56 <= bench.sink.fill <= 80 and bench.status("stopped")
    assert await bench.sink.receive_wire() == bytes(120)
    assert not bench.sink.overflows and not bench.returned.violations
    stops = [symbol for _, symbol in bench.sent.controls]
    assert stops.count(myrinet.Symbol.STOP) > 5 and stops[-1] is myrinet.Symbol.GO


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def a_source_that_ignores_stop_overflows_the_port(dut: Any) -> None:
    bench = await begin(dut)
    dut.hold.value = 1
    bench.source.obeys_stop = False
    bench.source.queue(bytes(200))
    assert await bench.count("overflow", 150) > 0
    assert any("more than 24 characters under STOP" in text for text in bench.sent.violations)


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def a_lost_stop_overflows_the_sink(dut: Any) -> None:
    bench = await begin(dut, {"cfg_short_timeout": 0}, strict=False, refresh=None)
    for lost in (0, 1):
        bench.sink.stalls = chain(repeat(True, 200), repeat(False))
        bench.sink.lost_controls = lost
        bench.source.queue(bytes(120))
        await ClockCycles(dut.clk, 500)
        assert bool(bench.sink.overflows) == bool(lost)


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def a_wrong_crc_is_found_at_both_ends(dut: Any) -> None:
    bench = await begin(dut)
    packet = bench.packet()
    await bench.source.send(packet, wrong_crc=True)
    assert (await bench.sink.receive()).syndrome != 0
    await bench.source.send(packet)
    assert (await bench.sink.receive()).syndrome == 0
    for monitor in (bench.sent, bench.returned):
        (violation,) = monitor.violations
        assert "CRC-8 is wrong, syndrome 0x" in violation
        assert [one.crc_correct for one in monitor.packets] == [False, True]


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def illegal_characters_reach_port_and_monitor(dut: Any) -> None:
    bench = await begin(dut)
    bench.source.queue_characters(0x055)
    assert await bench.count("illegal", 10) == 1
    assert [text.split(": ")[1] for text in bench.sent.violations] == ["illegal control character 0x55"]


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def lost_and_spurious_gaps_merge_and_cut_packets(dut: Any) -> None:
    bench = await begin(dut)
    await bench.source.send(b"first", gap=False)
    await bench.source.send(b"second")
    assert await bench.sink.receive_wire() == b"firstsecond"
    bench.source.queue_characters(0x141, myrinet.Symbol.GAP, myrinet.Symbol.GAP, 0x142, myrinet.Symbol.GAP)
    assert [await bench.sink.receive_wire() for _ in range(2)] == [b"A", b"B"]


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def time_outs_end_a_stop(dut: Any) -> None:
    bench = await begin(dut, {"cfg_refresh": 0})
    dut.hold.value = 1
    bench.source.short_timeout = 16
    bench.source.queue(bytes(200))
    assert await bench.count("overflow", 150) > 0, "the source has assumed GO"
    dut.rst.value = 1
    dut.hold.value = 0
    await ClockCycles(dut.clk, 2)
    dut.rst.value = 0
    dut.hold.value = 1
    bench.source.short_timeout, bench.source.long_timeout = None, 50
    bench.source.queue(bytes(100))
    await bench.source.drain()
    assert bench.source.cut == 1
    dut.hold.value = 0
    assert 0 < len(await bench.sink.receive_wire()) < 100


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def invalid_uses_are_rejected(dut: Any) -> None:
    bench = await begin(dut)
    given = (bench.link, dut.clk, dut.rst)
    with pytest.raises(myrinet.LinkError, match="link: two sources; use one LinkSource"):
        myrinet.LinkSource(*given)
    with pytest.raises(myrinet.LinkError, match="link: two sinks; use one LinkSink"):
        myrinet.LinkSink(*given)
    with pytest.raises(myrinet.LinkError, match="link packet: 0 bytes; send at least one byte"):
        bench.source.queue(b"")
    with pytest.raises(myrinet.LinkError, match="link character: 0x200; use 9 bits"):
        bench.source.queue_characters(0x200)
    with pytest.raises(myrinet.LinkError, match='link monitor: direction \'out\'; use "rx" or "tx"'):
        myrinet.LinkMonitor(*given, "out")
    with pytest.raises(myrinet.LinkError, match="slack buffer: go mark 9, stop mark 8, slack 80; use 0 <= go mark"):
        myrinet.LinkSink(myrinet.Link.from_prefix(dut), dut.clk, stop_mark=8, go_mark=9)
    with pytest.raises(MissingWiresError, match="missing wires up_rx, up_tx; the agent binds up_rx, up_tx"):
        myrinet.Link.from_prefix(dut, "up")
