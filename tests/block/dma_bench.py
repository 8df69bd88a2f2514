"""Bench around sim_dma_bench.sv: chains in SRAM, and the PCI side with a host memory."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Mapping
from typing import Any, Protocol

import cocotb
from cocotb.utils import get_sim_time

from pymodels.nic.dma import ChainModel, Done, write_block
from pymodels.registers import Block, Flag
from tb.agents.streams import StreamSink, StreamSource, never, sometimes
from tests.block.nic_bench import SRAM_BYTES, NicBench

HOST_BYTES = 1 << 18
BLOCKS = 0x800
"""SRAM address below which control blocks are stored, and above which data are."""


class WithHost(Protocol):
    """Bench with a host memory."""

    dut: Any
    rng: random.Random
    host: bytearray


class PciSide:
    """Backend of an engine's streams: a host memory that executes commands in order."""

    def __init__(self, bench: WithHost) -> None:
        dut, self.bench = bench.dut, bench
        self.commands: list[tuple[bool, int, int]] = []
        self.fail_next = False
        self.early_done = 0.3
        """Fraction of reads whose end is reported before their last beat."""
        self._open: deque[tuple[int, int]] = deque()
        self._beats = bytearray()
        self._command = StreamSink(dut, "cmd", ("data",), dut.clk, self._take)
        self._written = StreamSink(dut, "wr", ("data",), dut.clk, self._write)
        self._back = StreamSource(dut, "rd", ("done", "error", "beat"), dut.clk)

    def pace(self, stall: float) -> None:
        """Set random gaps and stalls on every stream."""
        rng = self.bench.rng
        self._command.stalls = sometimes(stall, rng) if stall else never()
        self._written.stalls = sometimes(stall, rng) if stall else never()
        self._back.gaps = sometimes(stall, rng) if stall else never()

    def _give(self, done: int, beat: int = 0) -> None:
        error = int(done and self.fail_next)
        if error:
            self.fail_next = False
        self._back.queue.append({"done": done, "error": error, "beat": beat})

    def _take(self, beat: Mapping[str, int]) -> None:
        write, address, count = beat["data"] >> 48, beat["data"] >> 16 & 0xFFFFFFFF, beat["data"] & 0xFFFF
        assert count
        self.commands.append((bool(write), address, count))
        if write:
            self._open.append((address, count))
            self._finish()
            return
        start, end = address & ~7, -(-(address + count) // 8) * 8
        early = self.bench.rng.random() < self.early_done
        for at in range(start, end, 8):
            if early and at == end - 8:
                self._give(1)
            self._give(0, int.from_bytes(self.bench.host[at : at + 8], "little"))
        if not early:
            self._give(1)

    def _write(self, beat: Mapping[str, int]) -> None:
        self._beats += beat["data"].to_bytes(8, "little")
        self._finish()

    def _finish(self) -> None:
        while self._open:
            address, count = self._open[0]
            lead = address & 7
            groups = -(-(lead + count) // 8) * 8
            if len(self._beats) < groups:
                return
            self.bench.host[address : address + count] = self._beats[lead : lead + count]
            del self._beats[:groups]
            self._open.popleft()
            self._give(1)


class DmaBench(NicBench):
    """Chains in SRAM, a host memory, and the reference model of both."""

    def __init__(self, dut: Any, sleep: bool = True, start_clocks: int = 0) -> None:
        zeros = dict.fromkeys(("hold_reset", "pulse", "w_list", "w_data"), 0)
        super().__init__(dut, sleep, cfg_start_clocks=start_clocks, **zeros)
        self.host = bytearray(self.rng.randbytes(HOST_BYTES))
        self.host_model = bytearray(self.host)
        self.model = ChainModel(self.image, self.host_model)
        self.pci = PciSide(self)
        self.done: list[Done] = []
        self.log: list[tuple[int, str]] = []
        self.errors = self.wakes = 0
        cocotb.start_soon(self._watch())

    async def _watch(self) -> None:
        dut = self.dut
        while True:
            await self.edge
            if int(dut.rst.value):
                continue
            self.errors += int(dut.error.value)
            wake = int(dut.set_wake.value)
            if int(dut.tr_start.value):
                self._note("start")
            if int(dut.tr_done.value):
                self._note("done")
                chain = int(dut.chain.value)
                assert not wake or wake == 1 << chain // 2
                block = int(dut.list.value) >> 24 * chain & 0xFFFFFF
                self.done.append(Done(chain, block, int(dut.tr_bytes.value), bool(int(dut.tr_e2l.value)), bool(wake)))

    def _note(self, what: str) -> None:
        self.log.append((int(get_sim_time("ps")) - self.origin, what))

    def chain(self, chain: int, base: int, blocks: int, longest: int) -> None:
        """Write a random chain of `blocks` blocks and its terminal one into the image."""
        rng = self.rng
        for index in range(blocks):
            at = base + index * Block.SIZE
            flags = (Flag.E2L if rng.random() < 0.5 else Flag(0)) | (Flag.WAKE if rng.random() < 0.5 else Flag(0))
            length = rng.choice([0, 1, 2, 7, 8, 9, rng.randrange(40), rng.randrange(longest)])
            lar = rng.randrange(BLOCKS, SRAM_BYTES - length)
            eal = rng.randrange(HOST_BYTES - length)
            write_block(self.image, at, at + Block.SIZE, flags, length, lar, eal)
        write_block(self.image, base + blocks * Block.SIZE, base, Flag.TERMINAL, 0, 0, 0)
        self.model.current[chain] = base

    async def load(self, chain: int) -> None:
        """Load a chain's pointer."""
        await self.strobe("w_list", self.model.current[chain], bit=chain)

    async def pulse(self, mask: int) -> None:
        """Write PULSE once."""
        self.dut.pulse.value = mask
        await self.edge
        self.dut.pulse.value = 0

    async def idle(self) -> None:
        """Wait until no chain runs."""
        for _ in range(60000):
            await self.edge
            if not int(self.dut.status.value) & 0x10F:
                await self.edge
                return
        raise AssertionError("chains still run after 60000 clocks")

    def check(self) -> None:
        """Check that both memories match the model and that the engine is idle."""
        self.check_sram()
        assert self.host == self.host_model
        assert not int(self.dut.busy.value)
