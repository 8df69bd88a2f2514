"""Bench around sim_nic_bench.sv with the SP adapter: firmware operations on its registers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import cocotb
from cocotb.triggers import Timer
from cocotb.utils import get_sim_time

from pymodels.formats.sp import SpPacket
from pymodels.nics.sp.registers import SpReg, SpStatus, fetch_command, read_command, store_command
from tests.block.nic_card import CardBench

INVARIANTS = ("st_dma_error", "st_queue_overflow", "st_packet_misuse", "st_send_misuse", "st_pio_misuse")
TARGET = 0x8000
"""Host address from which on received data are stored; data to send are below."""
ALL_PS = 75000
"""Period after which the three clocks have the same phases again, ps."""


class SpBench(CardBench):
    """Driver and firmware of one adapter with a looped-back link."""

    def __init__(self, dut: Any, sleep: int = 1, **settings: int) -> None:
        super().__init__(dut, sleep, **{"cfg_wide": 0, **settings})
        self.host = bytearray(self.rng.randbytes(len(self.memory.bytes)))
        """Expected content of host memory."""
        self.memory.bytes[:] = self.host
        self.fetched = self.stored = self.sent = 0
        """Expected values of the counters in STATUS, not limited to 8 bits."""
        self.broken: list[str] = []
        """Violated invariants of this adapter."""
        cocotb.start_soon(self._watch_invariants())

    async def _watch_invariants(self) -> None:
        handles = [(name, self.dut[name]) for name in INVARIANTS]
        while True:
            await self.edge
            if not int(self.dut.rst.value):
                self.broken += [name for name, handle in handles if int(handle.value)]

    async def aligned(self) -> None:
        """Wait until the three clocks have their initial phases."""
        await Timer(ALL_PS - (int(get_sim_time("ps")) - self.origin) % ALL_PS + 1, "ps")
        await self.edge

    async def until(self, bit: SpStatus, value: int = 1) -> None:
        """Wait until a bit of STATUS has a value."""
        await self._until(bit, 1, value)

    async def until_counted(self, counter: SpStatus, value: int) -> None:
        """Wait until a counter of STATUS reaches a value."""
        await self._until(counter, 0xFF, value & 0xFF)

    async def _until(self, bit: SpStatus, mask: int, value: int) -> None:
        for _ in range(60000):
            await self.edge
            if int(self.dut.isr.value) >> bit & mask == value:
                return
        raise AssertionError(f"{bit.name}: not {value} in 60000 clocks; STATUS is {int(self.dut.isr.value):#x}")

    async def order(self, first: int, address: int) -> None:
        """Insert a command."""
        await self.lanai_write(SpReg.COMMAND_HIGH, first)
        await self.lanai_write(SpReg.COMMAND_LOW, address)

    async def fetch(self, address: int, size: int) -> None:
        """Insert a FETCH."""
        await self.order(fetch_command(size), address)
        self.fetched += 1

    async def store(self, address: int, words: Sequence[int]) -> None:
        """Insert a STORE of words from the processor, and update the expected host memory."""
        await self.order(store_command(4 * len(words), False), address)
        for at in range(0, len(words) - 1, 2):
            await self.lanai_write(SpReg.DATA_HIGH, words[at])
            await self.lanai_write(SpReg.DATA_LOW, words[at + 1])
        if len(words) % 2:
            await self.lanai_write(SpReg.DATA_ONE, words[-1])
        data = b"".join(word.to_bytes(4, "big") for word in words)
        self.host[address : address + len(data)] = data
        self.stored += 1

    async def deliver(self, address: int, data: bytes) -> None:
        """Insert a STORE of the packet's next bytes, which must be `data`."""
        await self.order(store_command(len(data), True), address)
        self.host[address : address + len(data)] = data
        self.stored += 1

    async def read_host(self, address: int, count: int) -> tuple[int, ...]:
        """Insert a READ of words and return them."""
        await self.order(read_command(4 * count), address)
        await self.until(SpStatus.READ)
        return tuple([await self.lanai_read(SpReg.READ0 + 4 * i) for i in range(count)])

    async def launch(self, packet: SpPacket, inline: bool = False) -> None:
        """Write SEND0 and following, then SEND_START; the user data are in the Send FIFO, or `inline`."""
        await self.until(SpStatus.SEND_FREE)
        for index, word in enumerate([*packet.header.words(), *packet.via]):
            await self.lanai_write(SpReg.SEND0 + 4 * index, word)
        for at in range(0, len(packet.data) if inline else 0, 4):
            part = packet.data[at : at + 4].ljust(4, b"\0")
            await self.lanai_write(SpReg.OWN0 + at, int.from_bytes(part, "big"))
        await self.lanai_write(SpReg.SEND_START, len(packet.data) << (16 if inline else 0))
        self.sent += 1

    async def headers(self) -> tuple[int, ...]:
        """Return RECV0 to RECV5 of the packet at the head."""
        return tuple([await self.lanai_read(SpReg.RECV0 + 4 * index) for index in range(6)])

    async def done(self) -> None:
        """Wait until every command is done and no clock is needed."""
        await self.until(SpStatus.LEFT_IDLE)
        await self.until_counted(SpStatus.STORED, self.stored)
        await self.quiet()

    def a_packet(self, size: int) -> SpPacket:
        """Return a packet with random fields and user data."""
        rng = self.rng
        via = rng.getrandbits(31), rng.getrandbits(32)
        return SpPacket(b"", rng.getrandbits(16), rng.getrandbits(16), via, rng.randbytes(size))

    def check(self) -> None:
        """Check host memory, invariants and counters."""
        assert self.memory.bytes == self.host
        assert self.broken == self.bad == []
        status = int(self.dut.isr.value)
        counters = [status >> bit & 0xFF for bit in (SpStatus.FETCHED, SpStatus.STORED, SpStatus.SENT)]
        assert counters == [self.fetched & 0xFF, self.stored & 0xFF, self.sent & 0xFF]


async def begin(dut: Any, **settings: int) -> SpBench:
    """Return a bench out of reset."""
    bench = SpBench(dut, **settings)
    await bench.start()
    return bench


async def bring(bench: SpBench, packet: SpPacket, align: int) -> None:
    """Store a packet's user data in one of sixteen areas of host memory, at an alignment, and FETCH them."""
    at = bench.fetched % 16 * (TARGET // 16) + align
    bench.host[at : at + len(packet.data)] = bench.memory.bytes[at : at + len(packet.data)] = packet.data
    await bench.fetch(at, len(packet.data))
