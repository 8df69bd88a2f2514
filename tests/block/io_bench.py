"""Bench around sim_io_bench.sv: one host, and the processor of one I/O card, each with its side of the message unit.

The processor accesses registers and queue pointers at its port. It reads and writes local memory directly, as software
with a cache would, except for tests of the port itself.
"""

from __future__ import annotations

import random
import struct
from collections import deque
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, Event, FallingEdge, RisingEdge

from pymodels.iocard.registers import WINDOW, IoReg, Queue, descriptor
from tb.agents.host import CpuPort, HostMemory
from tb.agents.pci import PciMonitor
from tb.agents.streams import StreamSource
from tb.sim.doorway import Doorway

CARD = 0xE0000000
SIZE = 1 << 16
"""Bytes of host memory."""
QUEUES, FRAMES, DESCRIPTORS, DATA = 0x2008, 0x4000, 0x3000, 0x10000
"""Local addresses: queues, inbound frames, DMA descriptors, data."""
FRAME_BYTES = 64


class IoBench:
    """I/O card out of reset, with its host and its processor."""

    def __init__(self, dut: Any, wide: int = 0) -> None:
        self.dut = dut
        self.rng = random.Random(cocotb.RANDOM_SEED)
        for name, value in {"sleep": 0, "cfg_mem_log2": 16, "cfg_wide": wide, "cpu_config": 0}.items():
            dut[name].value = value
        dut.rst.value = 1
        Clock(dut.clk, 30, unit="ns", impl="gpi").start(start_high=False)
        self.cpu = CpuPort(dut, dut.clk, 30)
        self.memory = HostMemory(dut, dut.clk, SIZE)
        self.local = Doorway().memory(0, WINDOW, 0)
        self.monitor = PciMonitor(dut, "pci", dut.clk, dut.rst)
        self.port = StreamSource(dut, "io", ("write", "addr", "data"), dut.clk)
        self.log2 = 2
        """Binary logarithm of the entries of a queue."""
        self._lanes: deque[int] = deque()
        self._answers: deque[int] = deque()
        self._wake = Event()
        self.port.on_taken = self._taken
        cocotb.start_soon(self._watch())

    async def start(self, sleep: int = 0, log2: int = 2) -> None:
        """Assert reset with all inputs in their initial state, release it, and enable the message unit."""
        self.dut.rst.value, self.dut.sleep.value = 1, sleep
        self.rng = random.Random(cocotb.RANDOM_SEED)
        self.memory.bytes[:] = bytes(SIZE)
        self.local[: DATA + SIZE] = bytes(DATA + SIZE)
        await FallingEdge(self.dut.clk)
        await ClockCycles(self.dut.clk, 6)
        self.dut.rst.value = 0
        await ClockCycles(self.dut.clk, 3)
        self.log2 = log2
        self.put(IoReg.QUEUES, QUEUES)
        self.put(IoReg.CONTROL, log2 << 8 | 1)

    # ---- the host ----
    def write(self, register: int, value: int) -> None:
        """Queue a store of the host to a register or to local memory."""
        self.cpu.store(CARD + register, struct.pack("<I", value))

    async def read(self, register: int) -> int:
        """Read a register or a word of local memory as the host."""
        return int.from_bytes(await self.cpu.load(CARD + register, 4), "little")

    # ---- the processor ----
    def put(self, register: int, value: int) -> None:
        """Queue a write of the processor."""
        self.port.queue.append({"write": 1, "addr": register, "data": value})

    async def get(self, register: int) -> int:
        """Read a register or a word of local memory at the processor's port, after all earlier writes."""
        self.port.queue.append({"write": 0, "addr": register, "data": 0})
        while not self._answers:
            self._wake.clear()
            await self._wake.wait()
        return self._answers.popleft()

    def entry(self, queue: Queue, index: int) -> int:
        """Return the local address of an entry of a queue."""
        return QUEUES + 4 * ((queue << self.log2) + index % (1 << self.log2))

    def word(self, address: int) -> int:
        """Return a word of local memory."""
        return int(struct.unpack_from("<I", self.local, address)[0])

    def set_words(self, address: int, *words: int) -> None:
        """Write words to local memory."""
        struct.pack_into(f"<{len(words)}I", self.local, address, *words)

    def give(self, queue: Queue, index: int, frame: int) -> None:
        """Put an MFA into a queue as the processor: write the entry, then advance the head.

        Args:
            queue: INBOUND_FREE or OUTBOUND_POST.
            index: Number of the entry since reset.
            frame: The MFA.
        """
        self.set_words(self.entry(queue, index), frame)
        self.put(IoReg.INBOUND_FREE_HEAD + 8 * queue, (index + 1) % (1 << self.log2))

    async def accept(self, queue: Queue, index: int) -> int:
        """Take an MFA out of INBOUND_POST or OUTBOUND_FREE as the processor, once there is one."""
        while await self.get(IoReg.INBOUND_FREE_HEAD + 8 * queue) == index % (1 << self.log2):
            await ClockCycles(self.dut.clk, 3)
        frame = self.word(self.entry(queue, index))
        self.put(IoReg.INBOUND_FREE_TAIL + 8 * queue, (index + 1) % (1 << self.log2))
        return frame

    async def transfer(self, *moves: tuple[int, int, int, bool]) -> int:
        """Run a chain of DMA descriptors, each {PCI address, local address, bytes, to PCI}, and return DMA_STATUS."""
        for number, move in enumerate(moves):
            at = DESCRIPTORS + 16 * number
            self.set_words(at, *descriptor(*move, following=at + 16 if number + 1 < len(moves) else 0))
        return await self.run_chain()

    async def run_chain(self) -> int:
        """Start the chain at DESCRIPTORS and return DMA_STATUS at its end."""
        self.put(IoReg.DMA_DESCRIPTOR, DESCRIPTORS)
        while (status := await self.get(IoReg.DMA_STATUS)) & 1:
            await ClockCycles(self.dut.clk, 5)
        return status

    async def quiet(self) -> None:
        """Wait until the clock may stop."""
        for _ in range(2000):
            await ClockCycles(self.dut.clk, 1)
            if not int(self.dut.busy.value):
                return
        raise AssertionError("the card does not become idle")

    def _taken(self, access: Any) -> None:
        if not access["write"]:
            self._lanes.append(access["addr"] >> 2 & 1)

    async def _watch(self) -> None:
        edge = RisingEdge(self.dut.clk)
        while True:
            await edge
            if not int(self.dut.rst.value) and int(self.dut.io_rvalid.value):
                self._answers.append(int(self.dut.io_rdata.value) >> 32 * self._lanes.popleft() & 0xFFFFFFFF)
                self._wake.set()


async def begin(dut: Any, wide: int = 0, sleep: int = 0, log2: int = 2) -> IoBench:
    """Return a bench whose message unit is enabled."""
    bench = IoBench(dut, wide)
    await bench.start(sleep, log2)
    return bench
