"""Bench around sim_card_bench.sv: a host that acts as CPU and NIC for one FPGA card.

Host memory holds the parts of a real node's NIC: the queue of the card's channel with its pointers, and the read
pointers that the card reports. Messages are stored in the card's banks by the CPU, like the DMA writes of a NIC.
"""

from __future__ import annotations

import random
import struct
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, FallingEdge

from firmware.grim.formats import HEADER_BYTES, Header, MessageType
from pymodels.card.fabric import EXAMPLE, images, names
from pymodels.card.registers import BANK_BYTES, BANKS, REGISTERS, CardReg, Forward, entry
from tb.agents.host import CpuPort, HostMemory
from tb.agents.pci import PciMonitor
from tb.sim.doorway import Doorway

CARD = 0xE0000000
SIZE = 1 << 16
QUEUE, BACK, FRONT, READ = 0x4000, 0x1000, 0x1008, (0x1010, 0x1014)
"""Addresses of the NIC's structures in host memory."""
NIC_LIMIT, LIMIT = 0x6000, 0x3000
SELF, CHANNEL = 0x0302, 5
CONTROL_HANDLER, ERROR_HANDLER, FIRST_HANDLER = 7, 8, 100
SOURCE, SOURCE_CHANNEL = 0x0100, 2
PAYLOAD_AT = 8 + HEADER_BYTES
FILTERS, DIGESTS = "filters.bit", "digests.bit"
REPLY_HANDLER = 55


def handler_of(circuit: str) -> int:
    """Return the handler number that the bench assigns to a circuit of the example."""
    return FIRST_HANDLER + names(EXAMPLE).index(circuit)


def image_of(file: str) -> int:
    """Return the number of an image of the example."""
    return images(EXAMPLE).index(file) + 1


class CardBench:
    """FPGA card out of reset, with driver and scoreboard."""

    def __init__(self, dut: Any, fabric_ps: int, **settings: int) -> None:
        self.dut = dut
        self.rng = random.Random(cocotb.RANDOM_SEED)
        for name, value in {"sleep": 0, "cfg_mem_log2": 16, "cfg_wide": 0, "cfg_patience": 0, **settings}.items():
            dut[name].value = value
        dut.rst.value = 1
        Clock(dut.clk, 30, unit="ns", impl="gpi").start(start_high=False)
        Clock(dut.f_clk, fabric_ps, unit="ps", impl="gpi").start(start_high=False)
        self.cpu = CpuPort(dut, dut.clk, 30)
        self.memory = HostMemory(dut, dut.clk, SIZE)
        self.sram = Doorway().memory(0, BANKS * BANK_BYTES, 0)
        self.monitor = PciMonitor(dut, "pci", dut.clk, dut.rst)
        self._back = [0, 0]
        self.turn = 0
        """Bank for the next message."""
        self._front = 0
        self.nic_limit = NIC_LIMIT
        """Offset at which the ring of results in the NIC wraps."""

    async def reset(self, sleep: int) -> None:
        """Assert reset with all inputs in their initial state; `start` releases it."""
        self.dut.rst.value, self.dut.sleep.value = 1, sleep
        self.rng = random.Random(cocotb.RANDOM_SEED)
        self.memory.bytes[:] = bytes(SIZE)
        for bank in range(BANKS):
            self.sram[bank * BANK_BYTES :][:SIZE] = bytes(SIZE)
        self._back, self.turn, self._front = [0, 0], 0, 0
        await FallingEdge(self.dut.clk)  # from here on after the agents at every edge, in any order of their start

    def write(self, register: int, value: int) -> None:
        """Queue a store to a register of the card."""
        self.cpu.store(CARD + REGISTERS + register, struct.pack(">I", value))

    async def read(self, register: int) -> int:
        """Read a register of the card."""
        return int.from_bytes(await self.cpu.load(CARD + REGISTERS + register, 4), "big")

    async def start(self, file: str, divisor: int = 0) -> None:
        """Release reset, initialise the card's registers, and load an image."""
        await ClockCycles(self.dut.clk, 6)
        self.dut.rst.value = 0
        await ClockCycles(self.dut.clk, 3)
        for register, value in (
            (CardReg.LIMIT, LIMIT),
            (CardReg.SELF, CHANNEL << 16 | SELF),
            (CardReg.CLOCK, divisor),
            (CardReg.CONTROL_HANDLER, CONTROL_HANDLER),
            (CardReg.ERROR_HANDLER, ERROR_HANDLER),
            (CardReg.NIC_QUEUE, QUEUE),
            (CardReg.NIC_LIMIT, self.nic_limit),
            (CardReg.NIC_BACK, BACK),
            (CardReg.NIC_FRONT, FRONT),
            (CardReg.NIC_READ0, READ[0]),
            (CardReg.NIC_READ1, READ[1]),
            (CardReg.CONFIG_CLOCKS, 200),
        ):
            self.write(register, value)
        for index, name in enumerate(names(EXAMPLE)):
            self.write(CardReg.HANDLER + 4 * index, 1 << 31 | handler_of(name))
        await self.load(file)
        self.write(CardReg.RUN, 1)

    async def load(self, file: str) -> None:
        """Load an image and wait for it."""
        self.write(CardReg.IMAGE, image_of(file))
        while await self.read(CardReg.IMAGE) != image_of(file):
            pass

    async def send(self, handler: int, arguments: tuple[int, int, int, int], payload: bytes, token: int = 0) -> None:
        """Put a message into the next queue, once it has room."""
        words = (len(payload) + 3) // 4
        header = Header(
            token, 0, MessageType.ACTIVE, 4 * words - len(payload), 0, SOURCE, words, SELF,
            SOURCE_CHANNEL << 8 | CHANNEL, handler, arguments,
        ).pack()  # fmt: skip
        data = header + payload
        data += bytes(-len(data) % 8)
        bank, at = self.turn, self._back[self.turn]
        while not self._fits(bank, len(data)):
            await ClockCycles(self.dut.clk, 50)
        self.cpu.store(CARD + bank * BANK_BYTES + at, data, wc=True)
        end = at + len(data)
        self._back[bank] = end if end < LIMIT else 0
        self.write((CardReg.BACK0, CardReg.BACK1)[bank], self._back[bank])
        self.turn ^= 1

    def fpga_owns(self, bank: int) -> bool:
        """Return True if the FPGA owns a bank, as seen at the bus side."""
        return not int(self.dut.u_card.host_owns.value) >> bank & 1

    def _fits(self, bank: int, size: int) -> bool:
        front, back = self._word(READ[bank]), self._back[bank]
        end = back + size
        return end < front if back < front else end < LIMIT or front != 0

    def _word(self, address: int) -> int:
        return int.from_bytes(self.memory.bytes[address : address + 4], "big")

    async def result(self) -> tuple[Header, bytes]:
        """Return the next message that the card sends to its NIC, and free its space."""
        while self._word(BACK) == self._front:
            await ClockCycles(self.dut.clk, 20)
        at = QUEUE + self._front + 8
        w = struct.unpack_from(">8I", self.memory.bytes, at)
        header = Header(
            w[0] >> 8 & 0xFF, w[0] & 0xFF, w[1] >> 26, w[1] >> 24 & 3, w[1] >> 16 & 0xFF, w[1] & 0xFFFF, w[2] >> 16,
            w[2] & 0xFFFF, w[3] >> 16, w[3] & 0xFFFF, (w[4], w[5], w[6], w[7]),
        )  # fmt: skip
        payload = bytes(self.memory.bytes[at + HEADER_BYTES : at + HEADER_BYTES + header.bytes])
        end = self._front + PAYLOAD_AT + (len(payload) + 7 & ~7)
        self._front = end if end < self.nic_limit else 0
        self.memory.bytes[FRONT : FRONT + 4] = struct.pack(">I", self._front)
        return header, payload

    async def quiet(self) -> None:
        """Wait until both clocks of the card may stop."""
        for _ in range(2000):
            await ClockCycles(self.dut.clk, 1)
            if not int(self.dut.busy.value) and not int(self.dut.f_busy.value):
                return
        raise AssertionError("the card does not become idle")


async def begin(dut: Any, file: str, fabric_ps: int = 10000, divisor: int = 0, **settings: int) -> CardBench:
    """Return a bench whose card has loaded an image."""
    bench = CardBench(dut, fabric_ps, **settings)
    await bench.start(file, divisor)
    return bench


async def forward(bench: CardBench, circuit: str, mode: Forward, endpoint: int = 0, channel: int = 0) -> None:
    """Set a forwarding entry and wait for the answer."""
    place, handler = entry(mode, endpoint, channel, 99)
    await bench.send(CONTROL_HANDLER, (names(EXAMPLE).index(circuit), place, handler, REPLY_HANDLER), b"")
    header, payload = await bench.result()
    assert (header.destination, header.handler, payload) == (SOURCE, REPLY_HANDLER, b"")


def check_end(bench: CardBench) -> None:
    """Check that no bank was accessed by the side that does not own it."""
    assert not int(bench.dut.both_accessed.value), "a bank was accessed by both sides"
    assert not int(bench.dut.ev_trespass.value)
