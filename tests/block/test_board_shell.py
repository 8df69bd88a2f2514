"""Shell of a board from the serial line: address map, registers, wait for comparators, counters, trace ring.

Strategy: commands of `pymodels.board.bone` are driven bit by bit on the line, and replies are decoded from it. Two
nodes answer as dictionaries. The identity must be that of the inputs and parameters. Accesses outside the map must be
counted and read as unanswered. A read of WAIT must be answered by a match or by the limit, whichever is first. Records
must be read back from the ring as they were offered, and none while the nodes are in reset. Both checks must be those
of the host over all of it.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import cocotb
import numpy as np
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, FallingEdge, RisingEdge

from pymodels.board.bone import CHECK_COMMAND, Checks, read_command, reply_words, write_command
from pymodels.board.identity import FIRST, WORDS, Identity
from pymodels.board.map import COMPARATORS, UNANSWERED, ControlRegister, Region, Top, TraceMode, address, control
from pymodels.board.map import Clock as BoardClock
from pymodels.board.ring import records

DIVISOR, NODES, ROWS = 4, 2, 8
RECORD = {"cycle": 48, "clock": 2, "lost": 8, "code": 16, "unit": 20, "packet": 32, "argument": 32, "argument2": 32}
"""Fields of board_record_t and their bits."""
RECORD_BITS = sum(RECORD.values())
HASH = 0x0123456789ABCDEF_FEDCBA9876543210


class Bench:
    """Host at the line and nodes behind the shell."""

    def __init__(self, dut: Any) -> None:
        self.dut, self.rng, self.edge = dut, random.Random(cocotb.RANDOM_SEED), RisingEdge(dut.bus_clk)
        self.memory: dict[int, int] = {}
        self.arrived = bytearray()
        self.checks = Checks()

    async def begin(self) -> None:
        dut = self.dut
        Clock(dut.bus_clk, 40, unit="ns", impl="gpi").start(start_high=False)
        for name in ("node_ready", "node_rdata", "node_error", "nic_hits", "record_valid", "records"):
            dut[name].value = 0
        dut.latched_valid.value = dut.latched.value = 0
        dut.identity.value = HASH << 128 | 25 << 96 | 33 << 64 | 160 << 32 | 6
        dut.rxd.value = dut.bus_rst.value = 1
        await ClockCycles(dut.bus_clk, 4)
        dut.bus_rst.value = 0
        await ClockCycles(dut.bus_clk, 4)
        cocotb.start_soon(self._listen())
        cocotb.start_soon(self._nodes())
        await self.send(CHECK_COMMAND)
        self.checks.expected()
        await self.reply(8)

    async def _listen(self) -> None:
        while True:
            await FallingEdge(self.dut.txd)
            await ClockCycles(self.dut.bus_clk, DIVISOR // 2)
            byte = 0
            for bit in range(8):
                await ClockCycles(self.dut.bus_clk, DIVISOR)
                byte |= int(self.dut.txd.value) << bit
            await ClockCycles(self.dut.bus_clk, DIVISOR)
            assert int(self.dut.txd.value) == 1, "the stop bit"
            self.arrived.append(byte)

    async def _nodes(self) -> None:
        dut = self.dut
        while True:
            await self.edge
            valid = int(dut.node_valid.value)
            if not valid or int(dut.node_ready.value):
                continue
            assert valid in (1, 2), "an access has one node"
            place, write = int(dut.bus_addr.value), int(dut.bus_write.value)
            if write:
                self.memory[place] = int(dut.bus_wdata.value)
            word = self.memory.get(place, place) << (32 if valid == 2 else 0)
            dut.node_ready.value, dut.node_rdata.value = valid, word
            await self.edge
            dut.node_ready.value = 0

    async def send(self, data: bytes) -> None:
        self.checks.send(data)
        for byte in data:
            for bit in [0, *(byte >> i & 1 for i in range(8)), 1]:
                self.dut.rxd.value = bit
                await ClockCycles(self.dut.bus_clk, DIVISOR)

    async def reply(self, size: int, clocks: int = 20_000) -> bytes:
        for _ in range(clocks):
            if len(self.arrived) >= size:
                break
            await self.edge
        data = bytes(self.arrived)
        assert len(data) == size
        self.arrived.clear()
        self.checks.receive(data)
        return data

    async def read(self, place: int, count: int = 1) -> tuple[int, ...]:
        await self.send(read_command(place, count))
        return reply_words(await self.reply(4 * count))

    async def write(self, place: int, words: Sequence[int]) -> None:
        await self.send(write_command(place, words))
        await ClockCycles(self.dut.bus_clk, 10)

    async def get(self, register: ControlRegister) -> int:
        return (await self.read(control(register)))[0]

    async def compare_checks(self) -> None:
        await self.send(CHECK_COMMAND)
        expected = self.checks.expected()
        assert reply_words(await self.reply(8)) == expected


async def started(dut: Any) -> Bench:
    bench = Bench(dut)
    await bench.begin()
    return bench


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def the_identity_is_that_of_inputs_and_parameters(dut: Any) -> None:
    bench = await started(dut)
    made = Identity.read(await bench.read(FIRST, WORDS))
    assert made.hash == f"{HASH:032x}"
    assert (made.bus_hz, made.nic_hz, made.link_hz, made.baud, made.timeout) == (25, 33, 160, 6, 400)
    assert (made.top, made.nodes, made.nic, made.core) == (Top.PAIR, NODES, 4, True)
    assert (1 << made.ring_log2, made.comparators) == (ROWS, COMPARATORS)
    await bench.compare_checks()


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def accesses_reach_their_node_and_others_are_counted(dut: Any) -> None:
    bench = await started(dut)
    for node in range(NODES):
        for region in (Region.NIC, Region.MEMORY, Region.NODE):
            place = address(region, 4 * bench.rng.randrange(1 << 20), node)
            await bench.write(place, [place ^ 0xFFFF, node])
            assert await bench.read(place, 2) == (place ^ 0xFFFF, node)
    for place in (address(Region.NIC, 0, NODES), 0x5000_0000, control(ControlRegister.WAIT) | 0x10000):
        assert await bench.read(place) == (UNANSWERED,)
    assert await bench.get(ControlRegister.BUS_ERRORS) == 3
    await bench.write(control(ControlRegister.BUS_ERRORS), [0])
    assert await bench.get(ControlRegister.BUS_ERRORS) == 0
    await bench.compare_checks()


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def a_wait_ends_with_a_match_of_its_mask_or_at_its_limit(dut: Any) -> None:
    bench = await started(dut)
    await bench.write(control(ControlRegister.WAIT_MASK), [0b0101_0000, 300])
    assert await bench.get(ControlRegister.WAIT) == 0, "the limit"
    dut.nic_hits.value = 0b0000_0010
    assert await bench.get(ControlRegister.WAIT) == 0b10, "a match outside of the mask does not end it"
    await bench.write(control(ControlRegister.WAIT_LIMIT), [1 << 30])
    await bench.send(read_command(control(ControlRegister.WAIT)))
    await ClockCycles(dut.bus_clk, 2000)
    assert not bench.arrived
    dut.nic_hits.value = 0b0100_0010
    assert reply_words(await bench.reply(4)) == (0b0100_0010,)


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def counters_are_latched_together_and_reset_with_the_nodes(dut: Any) -> None:
    bench = await started(dut)
    assert await bench.get(ControlRegister.RESET) == 1 and not int(dut.run.value)
    await bench.write(control(ControlRegister.RESET), [0])
    before = int(dut.latch.value)
    await bench.write(control(ControlRegister.LATCH), [1])
    assert int(dut.run.value) and int(dut.latch.value) != before
    assert await bench.get(ControlRegister.LATCH) == 1, "values are still on their way"
    for clock, value in ((1, 0x1_2222_3333), (2, 0x4_5555_6666)):
        dut.latched.value = value << 48 * (clock - 1)
        dut.latched_valid.value = clock
        await bench.edge
    dut.latched_valid.value = 0
    assert await bench.get(ControlRegister.LATCH) == 0
    low, high, *others = await bench.read(control(ControlRegister.BUS_CYCLE_LOW), 6)
    assert others == [0x2222_3333, 1, 0x5555_6666, 4]
    assert 0 < low < 2000 and high == 0
    await bench.write(control(ControlRegister.RESET), [1])
    assert not int(dut.run.value)
    assert await bench.read(control(ControlRegister.BUS_CYCLE_LOW), 6) == (0,) * 6


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def the_ring_is_filled_by_both_sources_unless_the_nodes_are_in_reset(dut: Any) -> None:
    bench = await started(dut)
    await bench.write(control(ControlRegister.TRACE_MODE), [TraceMode.RECORD])
    dut.record_valid.value = 0b11
    await ClockCycles(dut.bus_clk, 5)
    assert await bench.get(ControlRegister.TRACE_WRITTEN) == 0, "records of nodes in reset are stale"
    dut.record_valid.value = 0
    await bench.write(control(ControlRegister.RESET), [0])
    sent: list[dict[str, int]] = []
    for number in range(5):
        made = [{name: bench.rng.getrandbits(bits) for name, bits in RECORD.items()} for _ in range(2)]
        packed = 0
        for source, record in enumerate(made):
            record |= {"clock": source + 1, "cycle": 10 * number + source}
            value = 0
            for name, bits in RECORD.items():
                value = value << bits | record[name]
            packed |= value << RECORD_BITS * source
        dut.records.value, dut.record_valid.value = packed, 0b11
        waiting = 0b11
        while waiting:
            await bench.edge
            waiting &= ~int(dut.record_ready.value)
            dut.record_valid.value = waiting
        sent += made
    assert await bench.get(ControlRegister.TRACE_WRITTEN) == len(sent)
    rows = [number % ROWS for number in range(len(sent) - ROWS, len(sent))]
    words = [await bench.read(address(Region.TRACE, 32 * row), 8) for row in rows]
    found = records(np.array(words, np.uint32), dict.fromkeys(BoardClock, 1))
    kept = sorted(sent[-ROWS:], key=lambda one: one["cycle"])
    assert found["packet"].tolist() == [one["packet"] for one in kept]
    assert found["unit"].tolist() == [one["unit"] for one in kept]
