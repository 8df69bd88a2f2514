"""Send path: registers and SRAM to the packet stream, across two unrelated clocks.

Strategy: random packets are written as firmware does, in one or more pieces with any start, alignment (SA) and end,
some raised during the piece. An independent model gives the expected bytes and CRC-8. Memory grants, stalls of the
link, the latency of the crossing and gated clocks are crossed. Trace strobes are checked against the packets; special
cases have their own tests.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import cocotb
from cocotb.triggers import ClockCycles, RisingEdge
from cocotb.utils import get_sim_time

from pymodels.nic.net import SendModel, crc8, packet_key
from tb.agents.streams import Pauses, StreamSink, never, sometimes
from tests.block.cases import cases
from tests.block.nic_bench import LINK_PS, SRAM_BYTES, NicBench


class Bench(NicBench):
    """Driver of registers, and scoreboard of packets."""

    def __init__(self, dut: Any, sleep: bool = False, latency: int = 1, stalls: Pauses | None = None) -> None:
        names = ("w_smp", "w_sml", "w_smlt", "w_sa", "w_data", "hold_reset")
        super().__init__(dut, sleep, cfg_latency=latency, crc_enable=1, **dict.fromkeys(names, 0))
        self.model = SendModel(self.image)
        self.packets: list[bytes] = []
        self.times: list[int] = []
        self.keys: dict[str, list[int]] = {"tr_start": [], "tr_read": [], "tr_head": []}
        self.read_bytes: list[int] = []
        self.begins: list[int] = []
        """Address of the first byte of each packet, as the trace reports it."""
        self.sends = self.misuses = 0
        self._packet = bytearray()
        self.sink = StreamSink(dut, "s", ("tail", "data"), dut.link_clk, self._beat, stalls)
        cocotb.start_soon(self._watch_nic())
        cocotb.start_soon(self._watch_link())

    def _beat(self, beat: Mapping[str, int]) -> None:
        self.times.append(int(get_sim_time("ps")) - self.origin)
        if beat["tail"]:
            self.packets.append(bytes(self._packet))
            self._packet.clear()
        else:
            self._packet.append(beat["data"])

    async def _watch_nic(self) -> None:
        dut = self.dut
        while True:
            await self.edge
            if int(dut.rst.value):
                continue
            self.sends += int(dut.set_send.value)
            self.misuses += int(dut.misuse.value)
            if int(dut.tr_start.value):
                self.keys["tr_start"].append(int(dut.tr_read_key.value))
                self.begins.append(int(dut.tr_start_at.value))
            if int(dut.tr_read.value):
                self.keys["tr_read"].append(int(dut.tr_read_key.value))
                self.read_bytes.append(int(dut.tr_bytes.value))

    async def _watch_link(self) -> None:
        edge = RisingEdge(self.dut.link_clk)
        while True:
            await edge
            if not int(self.dut.rst.value) and int(self.dut.tr_head.value):
                self.keys["tr_head"].append(int(self.dut.tr_key.value))

    async def limit(self, value: int, tail: bool) -> None:
        """Write SML or SMLT, here and in the model."""
        self.model.write_limit(value, tail)
        await self.strobe("w_smlt" if tail else "w_sml", value)

    async def point(self, address: int, align: int) -> None:
        """Write SMP and SA."""
        self.model.write_smp(address)
        self.model.write_sa(align)
        await self.strobe("w_smp", address)
        await self.strobe("w_sa", align)

    async def send_event(self) -> None:
        """Wait for the next SEND."""
        before = self.sends
        while self.sends == before:
            await self.edge

    async def packet(self) -> None:
        """Send one random packet, in pieces."""
        rng = self.rng
        pieces = rng.choice([1, 1, 1, 2, 3, 5])
        for piece in range(pieces):
            if piece == 0 or rng.random() < 0.4:
                start = rng.randrange(SRAM_BYTES - 1024)
                await self.point(
                    start if rng.random() < 0.3 else start & -self.sram.word, rng.randrange(self.sram.word)
                )
                at = self.model.smp + int(self.dut.sa.value)
            else:
                at = self.model.smp
            length = rng.choice([0, 1, 7, 8, 9, rng.randrange(64), rng.randrange(200)])
            if piece == 0:
                length += 1
            await self.limit(min(at + length, SRAM_BYTES), piece == pieces - 1)
            await self.send_event()
            await self.pause(3)

    async def drained(self) -> None:
        """Wait until both sides are idle."""
        for _ in range(20000):
            await self.edge
            awake = any(int(self.dut[name].value) for name in ("busy", "link_busy", "in_flight"))
            if not awake and len(self.packets) >= len(self.model.packets):
                return
        raise AssertionError(f"{len(self.packets)} of {len(self.model.packets)} packets after 20000 clocks")

    def check(self) -> None:
        """Check all packets and their trace."""
        assert self.packets == self.model.packets
        assert self.keys["tr_start"] == self.keys["tr_read"] == [packet_key(p[:-1]) for p in self.packets]
        assert self.begins == self.model.begins
        assert self.read_bytes == [len(p) - 1 for p in self.packets]
        assert self.keys["tr_head"] == self.keys["tr_start"]


@cocotb.test(timeout_time=4, timeout_unit="ms")
@cases(stall=[0.0, 0.6], grant=[0.0, 0.6], latency=[0, 3], sleep=[False, True])
async def random_packets_leave_as_written(dut: Any, stall: float, grant: float, latency: int, sleep: bool) -> None:
    """Cross pieces, alignments, lengths, and stalls on both sides."""
    bench = Bench(dut, sleep, latency)
    bench.sink.stalls = sometimes(stall, bench.rng) if stall else never()
    bench.allow = sometimes(grant, bench.rng) if grant else never()
    await bench.start()
    for _ in range(20):
        await bench.packet()
    await bench.drained()
    bench.check()
    assert bench.misuses == 0


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def sleeping_clocks_change_no_time(dut: Any) -> None:
    """Compare packets with gated and free-running clocks: equal times in ps, and fewer edges when gated."""
    times, edges = [], []
    bench = Bench(dut)
    for sleep in (0, 1):
        dut.rst.value = 1
        dut.sleep.value = sleep
        bench.rng.seed(5)
        bench.packets.clear()
        bench.model.packets.clear()
        bench.times.clear()
        await bench.start()
        begin = int(get_sim_time("ps")) - bench.origin
        for _ in range(12):
            await bench.packet()
            await ClockCycles(dut.clk, 40)
        await bench.drained()
        times.append([time - begin for time in bench.times])
        edges.append(int(dut.edges.value))
    assert times[0] == times[1]
    assert edges[1] < edges[0] // 2


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def a_limit_can_be_raised_while_the_piece_runs(dut: Any) -> None:
    """Check cut-through: repeated SML, then SMLT, without waiting for SEND; one packet."""
    bench = Bench(dut)
    bench.allow = sometimes(0.7, bench.rng)
    await bench.start()
    await bench.point(0x100, 3)
    for step in range(1, 30):
        await bench.limit(0x100 + step * 11, step == 29)
        await bench.pause(12)
    await bench.drained()
    assert bench.packets == [bytes(bench.image[0x103 : 0x100 + 29 * 11]) + bench.packets[0][-1:]]
    assert crc8(bench.packets[0]) == 0
    assert bench.misuses == 0


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def a_misplaced_write_is_flagged_and_ignored(dut: Any) -> None:
    """Write SMP during a piece, and limits during an SMLT piece."""
    bench = Bench(dut)
    await bench.start()
    bench.allow = sometimes(0.8, bench.rng)
    await bench.point(0, 0)
    await bench.limit(64, True)
    for name in ("w_smp", "w_sml", "w_smlt"):
        await bench.strobe(name, 0x80)
    await bench.drained()
    bench.check()
    assert bench.misuses == 3
    assert int(dut.smp.value) == 64


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def nothing_to_send_sends_nothing(dut: Any) -> None:
    """Write SMLT at its start without an open packet: SEND, no packet."""
    bench = Bench(dut)
    await bench.start()
    await bench.point(0x40, 3)
    await bench.limit(0x43, True)
    await ClockCycles(dut.clk, 50)
    assert bench.sends == 1 and bench.packets == [] and bench.times == []


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def reset_closes_an_open_packet_with_a_wrong_crc(dut: Any) -> None:
    """Reset the LANai in the middle: the tail still follows, with a wrong CRC; the next packet is whole."""
    bench = Bench(dut)
    await bench.start()
    await bench.point(0x200, 0)
    await bench.limit(0x240, False)
    await bench.send_event()
    dut.hold_reset.value = 1
    await ClockCycles(dut.clk, 120)
    dut.hold_reset.value = 0
    assert [p[:-1] for p in bench.packets] == [bytes(bench.image[0x200:0x240])]
    assert crc8(bench.packets[0]) != 0
    bench.packets.clear()
    bench.model = SendModel(bench.image)
    await bench.point(0x300, 1)
    await bench.limit(0x333, True)
    await bench.drained()
    assert bench.packets == bench.model.packets


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def a_long_packet_leaves_a_byte_every_link_clock(dut: Any) -> None:
    """Check that there is no bubble between the first byte and the tail."""
    bench = Bench(dut)
    await bench.start()
    await bench.point(0, 3)
    await bench.limit(2000, True)
    await bench.drained()
    bench.check()
    assert bench.times[-1] - bench.times[0] == (len(bench.times) - 1) * LINK_PS
