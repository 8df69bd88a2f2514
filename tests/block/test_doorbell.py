"""Doorbell unit with a memory.

Strategy: random beats of the host (either half or both, all lanes or some) are sent while the firmware side moves the
consumer at random. An independent model gives the expected entries in SRAM, the producer, and the dropped entries. One
and four FIFOs, sizes, and grants are crossed; small FIFOs are filled until they overflow, and the free-running numbers
wrap.
"""

from __future__ import annotations

from typing import Any

import cocotb
from cocotb.triggers import ClockCycles

from pymodels.nic.doorbell import DoorbellModel
from pymodels.registers import Pci, Size
from tb.agents.sram import SramImage
from tb.agents.streams import StreamSource, never, sometimes
from tests.block.nic_bench import NicBench

MEMORY = 1 << 16


class Bench(NicBench):
    """Driver of beats, and scoreboard of entries in SRAM."""

    def __init__(self, dut: Any, size: int, multi: bool, sleep: bool = True) -> None:
        zeros = dict.fromkeys(("w_base", "w_base_data", "w_consumer", "w_data"), 0)
        super().__init__(dut, sleep, size=size, multi=int(multi), **zeros)
        self.sram = SramImage(dut.u_memory, MEMORY)
        self.image = bytearray(MEMORY)
        span = Size.DOORBELL_FIFO << size
        self.model = DoorbellModel(self.image, [(3 - k if multi else 1) * span for k in range(4)], size, multi)
        self.source = StreamSource(dut, "in", ("addr", "be", "data"), dut.clk)
        self.wakes = self.overflows = 0
        cocotb.start_soon(self._watch())

    async def _watch(self) -> None:
        while True:
            await self.edge
            if not int(self.dut.rst.value):
                self.wakes += int(self.dut.wake.value)
                self.overflows += int(self.dut.overflow.value)

    async def set_up(self) -> None:
        """Start the bench and load the bases."""
        await self.start()
        for fifo, base in enumerate(self.model.bases):
            self.dut.w_base_data.value = base
            await self.strobe("w_base", bit=fifo)

    def ring(self) -> None:
        """Queue a random beat and pass it to the model."""
        rng = self.rng
        address = rng.randrange(Pci.DOORBELL, Pci.END, 8)
        data = rng.randbytes(8)
        lanes = rng.choice([0x0F, 0xF0, 0xFF, 0xFF, 0x00, rng.randrange(256)])
        self.source.queue.append({"addr": address, "be": lanes, "data": int.from_bytes(data, "little")})
        for half in (0, 4):
            if lanes >> half & 0xF:
                kept = bytes(data[half + i] if lanes >> half + i & 1 else 0 for i in range(4))
                self.model.write(address + half, kept)

    async def drained(self) -> None:
        """Wait until every beat is done."""
        while self.source.queue or int(self.dut.in_valid.value):
            await self.edge
        await ClockCycles(self.dut.clk, 3)

    async def consume(self, fifo: int, to: int) -> None:
        """Write a consumer number as firmware."""
        self.model.consumer[fifo] = to % (1 << 17)
        await self.strobe("w_consumer", self.model.consumer[fifo], bit=fifo)
        await self.edge

    def check(self) -> None:
        """Check memory, numbers and counts."""
        found = self.sram.load(0, len(self.image))
        assert found == bytes(self.image)
        producers = int(self.dut.producer.value)
        assert [producers >> 17 * k & 0x1FFFF for k in range(4)] == self.model.producer
        assert int(self.dut.overflows.value) == self.overflows == self.model.overflows
        assert self.wakes == sum(self.model.producer)
        assert not int(self.dut.busy.value)


@cocotb.test(timeout_time=4, timeout_unit="ms")
@cocotb.parametrize(size=[0, 2], multi=[False, True], grant=[0.0, 0.6])
async def each_write_becomes_an_entry(dut: Any, size: int, multi: bool, grant: float) -> None:
    """Send both halves and partial words with bases in any order; the consumer follows."""
    bench = Bench(dut, size, multi)
    bench.allow = sometimes(grant, bench.rng) if grant else never()
    await bench.set_up()
    for _ in range(12):
        for _ in range(bench.rng.randrange(40)):
            bench.ring()
        await bench.drained()
        fifo = bench.rng.randrange(4)
        await bench.consume(fifo, bench.model.producer[fifo])
    bench.check()
    assert bench.overflows == 0


@cocotb.test(timeout_time=4, timeout_unit="ms")
async def a_full_fifo_drops_and_counts(dut: Any) -> None:
    """Fill 512 entries: further ones are dropped until the consumer moves, then as many fit as were consumed."""
    bench = Bench(dut, 0, False)
    await bench.set_up()
    while bench.model.overflows < 20:
        bench.ring()
    await bench.drained()
    bench.check()
    await bench.consume(0, 5)
    dropped = bench.model.overflows
    for _ in range(20):
        bench.ring()
    await bench.drained()
    bench.check()
    assert bench.model.producer[0] == 517 and bench.overflows > dropped


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def the_numbers_wrap_with_the_fifo(dut: Any) -> None:
    """Send four times the FIFO's capacity, with the consumer close behind."""
    bench = Bench(dut, 0, False)
    await bench.set_up()
    while bench.model.producer[0] < 2100:
        for _ in range(200):
            bench.ring()
        await bench.drained()
        await bench.consume(0, bench.model.producer[0] - bench.rng.randrange(10))
    bench.check()
    assert bench.overflows == 0


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def writing_a_base_empties_the_fifo(dut: Any) -> None:
    """Write a base: producer and consumer restart at 0, at the new address."""
    bench = Bench(dut, 0, False)
    await bench.set_up()
    for _ in range(9):
        bench.ring()
    await bench.drained()
    bench.model.bases[0] = 0x5000
    bench.model.producer[0] = 0
    dut.w_base_data.value = 0x5000
    await bench.strobe("w_base", bit=0)
    bench.wakes = 0
    for _ in range(3):
        bench.ring()
    await bench.drained()
    bench.check()
