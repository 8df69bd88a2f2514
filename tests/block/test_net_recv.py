"""Receive path: packet stream to SRAM and registers, across two unrelated clocks.

Strategy: random packets, some with a wrong CRC-8, arrive with gaps. The bench, as firmware, arms one buffer or several
smaller ones at random times. An independent model gives the expected SRAM, RMP, ORUN, length and syndrome. Grants,
gaps, crossing latency and gated clocks are crossed. Back-pressure, the network time-out in both forms and LANai reset
have their own tests.
"""

from __future__ import annotations

from typing import Any

import cocotb
from cocotb.triggers import ClockCycles, RisingEdge
from cocotb.utils import get_sim_time

from pymodels.nic.net import Received, ReceiveModel, crc8, packet_key
from tb.agents.streams import StreamSource, never, sometimes
from tests.block.cases import cases
from tests.block.nic_bench import NicBench

EVENTS = ("set_head", "set_recv", "set_buff", "set_nres", "truncated", "receiver_reset", "lost")
INPUTS = ("w_rmp", "w_rml", "w_data", "hold_reset", "nres_enable", "nres_code", "cfg_nres_truncate")


class Bench(NicBench):
    """Driver of packets, and scoreboard of the SRAM."""

    def __init__(self, dut: Any, sleep: bool = False, latency: int = 1) -> None:
        zeros = dict.fromkeys(INPUTS, 0)
        super().__init__(dut, sleep, cfg_latency=latency, crc_enable=1, cfg_nres_clocks=100, **zeros)
        self.model = ReceiveModel(self.image, self.sram.word)
        self.source = StreamSource(dut, "m", ("tail", "data"), dut.link_clk)
        self.counts = dict.fromkeys(EVENTS, 0)
        self.results: list[tuple[int, int, int, int]] = []
        """(key, length, orun, syndrome) at each RECV."""
        self.heads: list[int] = []
        self.bad = 0
        self.log: list[tuple[int, str]] = []
        cocotb.start_soon(self._watch_nic())
        cocotb.start_soon(self._watch_link())

    async def _watch_nic(self) -> None:
        dut, counts = self.dut, self.counts
        handles = [(name, dut[name]) for name in EVENTS]
        while True:
            await self.edge
            if int(dut.rst.value):
                continue
            for name, handle in handles:
                if int(handle.value):
                    counts[name] += 1
                    self.log.append((int(get_sim_time("ps")) - self.origin, name))
            if int(dut.set_recv.value) and not int(dut.truncated.value):
                names = ("tr_done_key", "tr_length", "orun", "tr_syndrome")
                key, length, orun, syndrome = (int(dut[name].value) for name in names)
                self.results.append((key, length, orun, syndrome))

    async def _watch_link(self) -> None:
        edge = RisingEdge(self.dut.link_clk)
        while True:
            await edge
            if not int(self.dut.rst.value):
                if int(self.dut.tr_head.value):
                    self.heads.append(int(self.dut.tr_key.value))
                self.bad += int(self.dut.crc_bad.value)

    def give(self, packet: bytes) -> None:
        """Queue a packet's characters and its tail."""
        self.source.queue.extend({"tail": 0, "data": byte} for byte in packet)
        self.source.queue.append({"tail": 1, "data": 0})

    def make(self, length: int, good: bool = True) -> bytes:
        """Return a packet of `length` bytes and its CRC-8, sometimes with remaining route bytes in front."""
        body = bytearray(self.rng.randbytes(length))
        route = self.rng.choice([0, 0, 0, 1, 4]) if length > 4 else 0
        for at in range(min(length, route + 1)):
            body[at] = body[at] & 0x7F | (0x80 if at < route else 0)
        return bytes(body) + bytes([crc8(bytes(body)) ^ (0 if good else self.rng.randrange(1, 256))])

    async def arm(self, rmp: int, rml: int) -> None:
        """Write RMP and RML."""
        await self.strobe("w_rmp", rmp)
        await self.strobe("w_rml", rml)

    async def until(self, event: str, count: int) -> None:
        """Wait until an event has occurred `count` times and its edge is over."""
        for _ in range(20000):
            there = self.counts[event] >= count
            await self.edge
            if there:
                return
        raise AssertionError(f"{event}: {self.counts[event]} of {count} after 20000 clocks")

    async def receive(self, packet: bytes, buffers: list[tuple[int, int]]) -> Received:
        """Arm buffers until the tail arrives, and compare with the model."""
        expected = self.model.packet(packet, buffers)
        done = self.counts["set_recv"] + 1
        for used, (rmp, rml) in enumerate(buffers[: expected.buffers + 1]):
            await self.pause(60)
            await self.arm(rmp, rml)
            if used < expected.buffers:
                await self.until("set_buff", self.counts["set_buff"] + 1)
        await self.until("set_recv", done)
        assert int(self.dut.rmp.value) == expected.rmp
        assert int(self.dut.length.value) == expected.length
        assert self.results[-1] == (
            packet_key(packet), expected.length, expected.orun, expected.syndrome,
        )  # fmt: skip
        return expected

    def buffers(self, total: int) -> list[tuple[int, int]]:
        """Return random buffers for `total` bytes: one large enough (limit in either convention), or several."""
        rng, word = self.rng, self.sram.word
        if rng.random() < 0.5:
            start = rng.randrange(512) * word
            need = -(-total // word) * word
            return [(start, start + need + rng.choice([0, 64, -word // 2]))]
        chosen, at = [], rng.randrange(64) * word
        while total > 0:
            words = rng.choice([1, 2, 5, 20])
            chosen.append((at, at + word * words))
            total -= word * words
            at += word * words + rng.choice([0, word, 128])
        return chosen


@cocotb.test(timeout_time=4, timeout_unit="ms")
@cases(gap=[0.0, 0.5], grant=[0.0, 0.6], latency=[0, 3], sleep=[False, True])
async def random_packets_are_stored_in_armed_buffers(
    dut: Any, gap: float, grant: float, latency: int, sleep: bool
) -> None:
    """Cross lengths, buffers, CRC errors, and firmware that arms early or late."""
    bench = Bench(dut, sleep, latency)
    bench.source.gaps = sometimes(gap, bench.rng) if gap else never()
    bench.allow = sometimes(grant, bench.rng) if grant else never()
    await bench.start()
    rng = bench.rng
    lengths = [rng.choice([1, 4, 6, 7, 8, 15, 16, rng.randrange(3, 40), rng.randrange(3, 260)]) for _ in range(15)]
    packets = [bench.make(length, rng.random() < 0.7) for length in lengths]
    for packet in packets:
        bench.give(packet)
    for packet in packets:
        await bench.receive(packet, bench.buffers(len(packet)))
    await ClockCycles(dut.clk, 20)
    bench.check_sram()
    assert bench.counts["set_head"] == bench.counts["set_recv"] == len(packets)
    assert bench.counts["lost"] == 0
    assert bench.heads == [packet_key(packet) for packet in packets]
    assert bench.bad == sum(crc8(packet) != 0 for packet in packets)


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def sleeping_clocks_change_no_time(dut: Any) -> None:
    """Check that every event has the same time in ps, with gated and free-running clocks."""
    logs, edges = [], []
    bench = Bench(dut)
    dut.nres_enable.value = 1
    dut.cfg_nres_truncate.value = 1
    for sleep in (0, 1):
        dut.rst.value = 1
        dut.sleep.value = sleep
        bench.rng.seed(9)
        bench.image[:] = bench.rng.randbytes(len(bench.image))
        await bench.start()
        bench.log.clear()
        begin = int(get_sim_time("ps")) - bench.origin
        for _ in range(10):
            packet = bench.make(bench.rng.randrange(5, 60))
            bench.give(packet)
            await bench.receive(packet, bench.buffers(len(packet)))
            await ClockCycles(dut.clk, 30)
        bench.give(bench.make(20))
        await ClockCycles(dut.clk, 200)
        logs.append([(time - begin, name) for time, name in bench.log])
        edges.append(int(dut.edges.value))
    assert logs[0] == logs[1]
    assert "set_nres" in [name for _, name in logs[1]]
    assert edges[1] < edges[0] // 2


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def an_unarmed_engine_holds_the_link(dut: Any) -> None:
    """Check that nothing is stored, the stream stalls, the clock is idle and nothing is lost; then all arrives."""
    bench = Bench(dut, sleep=True)
    await bench.start()
    packet = bench.make(600)
    bench.give(packet)
    await ClockCycles(dut.clk, 400)
    edges = int(dut.edges.value)
    await ClockCycles(dut.clk, 400)
    assert len(bench.source.queue) > 300
    assert not int(dut.busy.value) and not int(dut.link_busy.value)
    assert int(dut.edges.value) == edges, "no time-out is enabled: it sleeps until RML is written"
    bench.check_sram()
    await bench.receive(packet, [(0x400, 0x800)])
    bench.check_sram()


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def the_first_word_is_seen_before_the_tail(dut: Any) -> None:
    """Check cut-through: HEAD and RMP change while the packet is still arriving."""
    bench = Bench(dut)
    bench.source.gaps = sometimes(0.9, bench.rng)
    await bench.start()
    packet = bench.make(64)
    bench.give(packet)
    await bench.arm(0x80, 0x100)
    await bench.until("set_head", 1)
    await bench.edge
    assert int(dut.rmp.value) == 0x80 + bench.sram.word
    assert len(bench.source.queue) > 40
    assert bench.sram.load(0x80, 4) == packet[:4]


@cocotb.test(timeout_time=1, timeout_unit="ms")
@cases(truncate=[0, 1], stored=[False, True])
async def the_network_time_out_frees_the_link(dut: Any, truncate: int, stored: bool) -> None:
    """Block for 4 x 100 clocks (code 1): one NRES; truncated, or the receiver absorbs until RML is written."""
    bench = Bench(dut, sleep=True)
    dut.nres_enable.value = 1
    dut.nres_code.value = 1
    dut.cfg_nres_truncate.value = truncate
    await bench.start()
    if stored:
        await bench.arm(0x100, 0x110)
    bench.give(bench.make(200))
    following = bench.make(30)
    bench.give(following)
    await bench.until("set_nres", 1)
    blocked_from = next((time for time, name in bench.log if name == "set_buff"), 0)
    if stored:
        assert 400 <= (bench.log[-1][0] - blocked_from) // 7500 <= 403
    await ClockCycles(dut.clk, 300)
    cut = truncate and stored
    assert bench.counts["truncated"] == bench.counts["set_recv"] == int(bool(cut))
    assert bench.counts["receiver_reset"] == 1 - truncate
    if truncate:
        assert bench.counts["lost"] == 1
    else:
        assert bench.counts["lost"] == 2, "a reset receiver absorbs what follows"
        assert int(dut.rmp.value) == int(dut.rml.value) == 0, "it has no buffer"
        following = bench.make(41)
        bench.give(following)
        await ClockCycles(dut.clk, 100)
        assert bench.counts["lost"] == 3
        following = bench.make(17)
        bench.source.queue.clear()
    if truncate:
        await bench.receive(following, [(0x200, 0x300)])
    else:
        await bench.arm(0x200, 0x300)
        bench.give(following)
        bench.model.packet(following, [(0x200, 0x300)])
        await bench.until("set_recv", bench.counts["set_recv"] + 1)
    assert bench.sram.load(0x200, len(following) - 1) == following[:-1]
    await ClockCycles(dut.clk, 20)
    edges = int(dut.edges.value)
    await ClockCycles(dut.clk, 500)
    assert int(dut.edges.value) == edges, "no packet waits: no time-out runs"
    assert bench.counts["set_nres"] == 1


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def a_nic_in_reset_absorbs_and_ignores(dut: Any) -> None:
    """Check that packets are dropped and counted; one that began in reset is dropped to its tail."""
    bench = Bench(dut, sleep=True)
    await bench.start()
    dut.hold_reset.value = 1
    for length in (10, 0, 100):
        bench.give(bench.make(length))
    await ClockCycles(dut.clk, 200)
    assert bench.counts["lost"] == 3 and not bench.source.queue
    bench.give(bench.make(300))
    await ClockCycles(dut.clk, 60)
    dut.hold_reset.value = 0
    following = bench.make(23)
    bench.give(following)
    await bench.receive(following, [(0x40, 0x80)])
    assert bench.counts["lost"] == 4
    bench.check_sram()


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def without_the_check_the_crc_character_is_stored(dut: Any) -> None:
    """Clear MYRINET bit 3: the last stored byte is the received character."""
    bench = Bench(dut)
    dut.crc_enable.value = 0
    await bench.start()
    for at, length in ((0, 7), (0x100, 12)):
        packet = bench.make(length)
        bench.give(packet)
        await bench.arm(at, at + 0x40)
        await bench.until("set_recv", bench.counts["set_recv"] + 1)
        await bench.edge
        assert bench.sram.load(at, length + 1) == packet
