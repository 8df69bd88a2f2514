"""SRAM arbiter with a memory.

Strategy: in every clock each requester makes random requests with random address, direction and lanes, and holds them
until granted. An independent model determines the grants on each port. A byte image gives the expected read data one
clock later: reads of a clock see the previous state, and port b writes last. One and two accesses per clock are crossed
with light and heavy load; few addresses make collisions frequent.
"""

from __future__ import annotations

import random
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, FallingEdge, RisingEdge

from pymodels.nic.arbiter import ArbiterModel, Requester
from tb.agents.sram import SramImage

SIZE = 256
NAMES = {who: who.name.lower() for who in Requester}
WRITES_ONLY = (Requester.RX,)
READS_ONLY = (Requester.TX,)


class Access:
    """Access requested by a requester."""

    def __init__(self, who: Requester, rng: random.Random, word: int) -> None:
        """Draw a random access; `word` is the number of bytes of a word."""
        self.write = who in WRITES_ONLY or (who not in READS_ONLY and rng.random() < 0.5)
        self.address = rng.randrange(SIZE // word) * word
        self.data = rng.randbytes(word)
        self.lanes = rng.randrange(1 << word)

    def drive(self, dut: Any, name: str, who: Requester) -> None:
        """Drive the request on the wires."""
        dut[f"{name}_req"].value = 1
        dut[f"{name}_addr"].value = self.address
        if who not in READS_ONLY:
            dut[f"{name}_wdata"].value = int.from_bytes(self.data, "little")
            dut[f"{name}_be"].value = self.lanes
        if who not in WRITES_ONLY + READS_ONLY:
            dut[f"{name}_write"].value = int(self.write)

    def apply(self, image: bytearray) -> None:
        """Apply the write to the image."""
        for lane in range(len(self.data)):
            if self.lanes >> lane & 1:
                image[self.address + lane] = self.data[lane]


class Bench:
    """Random requesters around sim_sram_bench, compared clock by clock."""

    def __init__(self, dut: Any, accesses: int, load: float) -> None:
        self.dut, self.load = dut, load
        self.rng = random.Random(cocotb.RANDOM_SEED)
        self.model = ArbiterModel(accesses)
        self.sram = SramImage(dut, SIZE)
        self.image = bytearray(self.rng.randbytes(SIZE))
        self.wanted: dict[Requester, Access] = {}
        self.reads: dict[Requester, bytes] = {}
        self.grants = dict.fromkeys(Requester, 0)
        Clock(dut.clk, 10, unit="ns", impl="gpi").start(start_high=False)
        dut.cfg_accesses.value = accesses
        for name in NAMES.values():
            dut[f"{name}_req"].value = 0
        dut.rst.value = 1

    async def start(self) -> None:
        self.sram.fill(bytes(self.image))
        await ClockCycles(self.dut.clk, 3)
        self.dut.rst.value = 0
        await RisingEdge(self.dut.clk)

    async def run(self, clocks: int) -> None:
        """Make requests, check grants and read data in the middle of each clock, and keep ungranted requests."""
        for _ in range(clocks):
            for who, name in NAMES.items():
                if who not in self.wanted and self.rng.random() < self.load:
                    self.wanted[who] = Access(who, self.rng, self.sram.word)
                if who in self.wanted:
                    self.wanted[who].drive(self.dut, name, who)
                else:
                    self.dut[f"{name}_req"].value = 0
            await FallingEdge(self.dut.clk)
            self._check_reads()
            self._clock()
            await RisingEdge(self.dut.clk)

    def _check_reads(self) -> None:
        for who, name in NAMES.items():
            if who in WRITES_ONLY:
                continue
            valid = int(self.dut[f"{name}_rvalid"].value)
            assert valid == (who in self.reads), f"{name}: read data valid is {valid}"
            if valid:
                data = int(self.dut[f"{name}_rdata"].value).to_bytes(self.sram.word, "little")
                assert data == self.reads[who], f"{name}: {data.hex()} instead of {self.reads[who].hex()}"

    def _clock(self) -> None:
        expected = self.model.clock(self.wanted.keys())
        granted = [who for who, name in NAMES.items() if int(self.dut[f"{name}_gnt"].value)]
        assert set(granted) == set(expected), f"granted {granted}, expected {expected}"
        others = [who for who in granted if who != Requester.CPU]
        room = int(self.dut.cpu_free.value)
        assert room == (len(others) < self.model.accesses), f"room for the processor is {room} beside {others}"
        before = bytes(self.image)
        self.reads.clear()
        for who in expected:
            access = self.wanted.pop(who)
            self.grants[who] += 1
            if access.write:
                access.apply(self.image)
            else:
                self.reads[who] = before[access.address : access.address + self.sram.word]

    def finish(self) -> None:
        assert self.sram.load(0, SIZE) == bytes(self.image)


@cocotb.test(timeout_time=1, timeout_unit="ms")
@cocotb.parametrize(accesses=[1, 2], load=[0.2, 0.6, 1.0])
async def grants_and_data_follow_the_model(dut: Any, accesses: int, load: float) -> None:
    """Check priorities, round robin, two ports, old data on a collision, and port b writing last."""
    bench = Bench(dut, accesses, load)
    await bench.start()
    await bench.run(400)
    for name in NAMES.values():
        dut[f"{name}_req"].value = 0
    await ClockCycles(dut.clk, 2)
    bench.finish()
    assert bench.grants[Requester.PIO] > 20


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def two_io_requesters_share_one_access_evenly(dut: Any) -> None:
    """Check that with one access per clock and constant requests PIO and DMA alternate, and no other is served."""
    bench = Bench(dut, 1, 1.0)
    await bench.start()
    await bench.run(101)
    assert abs(bench.grants[Requester.PIO] - bench.grants[Requester.DMA]) <= 1
    assert bench.grants[Requester.RX] == bench.grants[Requester.CPU] == 0


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def an_idle_arbiter_needs_no_clock(dut: Any) -> None:
    """Check that busy is 0 without requests or pending data, also if only the processor requests."""
    bench = Bench(dut, 2, 0.5)
    await bench.start()
    await bench.run(50)
    for name in NAMES.values():
        dut[f"{name}_req"].value = 0
    await ClockCycles(dut.clk, 3)
    assert int(dut.busy.value) == 0
    assert int(dut.mem_a_valid.value) == int(dut.mem_b_valid.value) == 0
    dut.cpu_req.value = 1
    dut.cpu_write.value = 0
    await ClockCycles(dut.clk, 2)
    assert int(dut.busy.value) == 0
