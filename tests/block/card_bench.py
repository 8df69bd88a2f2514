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

from firmware.grim.formats import HEADER_BYTES, SEGMENTS, Header, MessageType
from pymodels.card.fabric import EXAMPLE, images, names
from pymodels.card.image import build
from pymodels.card.registers import (
    BANK_BYTES,
    BANKS,
    CONFIG,
    CONFIG_LOADING,
    REGISTERS,
    CardReg,
    Configure,
    Forward,
    Load,
    entry,
)
from tb.agents.host import CpuPort, HostMemory
from tb.agents.pci import PciMonitor
from tb.sim.doorway import Doorway

CARD = 0xE0000000
SIZE = 1 << 16
QUEUE, BACK, FRONT, READ = 0x4000, 0x1000, 0x1008, (0x1010, 0x1014)
"""Addresses of the NIC's structures in host memory."""
NIC_LIMIT, LIMIT = 0x6000, 0x3000
IMAGE_AT = 0xC000
"""Address of an image in host memory."""
SELF, CHANNEL = 0x0302, 5
CONTROL_HANDLER, ERROR_HANDLER, FIRST_HANDLER = 7, 8, 100
SOURCE, SOURCE_CHANNEL = 0x0100, 2
PAYLOAD_AT = 8 + HEADER_BYTES
FILTERS, DIGESTS = "filters.bit", "digests.bit"
REPLY_HANDLER = 55
FRAME_BYTES = 200
"""Bytes of the frames of an image, unless a test gives another number."""


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
        for name, value in {
            "sleep": 0,
            "cfg_mem_log2": 16,
            "cfg_wide": 0,
            "cfg_patience": 0,
            "cfg_config_wait": 0,
            **settings,
        }.items():
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
        ):
            self.write(register, value)
        for index, name in enumerate(names(EXAMPLE)):
            self.write(CardReg.HANDLER + 4 * index, 1 << 31 | handler_of(name))
        await self.load(file)
        self.write(CardReg.RUN, 1)

    def put_image(self, data: bytes) -> None:
        """Queue a whole image for the configuration port, between START and END."""
        self.write(CardReg.CONFIG, Configure.START)
        self.cpu.store(CARD + CONFIG, data, wc=True)
        self.write(CardReg.CONFIG, Configure.END)

    async def fetch_image(self, data: bytes) -> None:
        """Have the card fetch an image from host memory, between START and END."""
        self.begin_fetch(data)
        await self.end_fetch()

    def begin_fetch(self, data: bytes) -> None:
        """Start a fetch of an image, which `end_fetch` ends."""
        self.memory.bytes[IMAGE_AT : IMAGE_AT + len(data)] = data
        self.write(CardReg.CONFIG, Configure.START)
        for register, value in (
            (CardReg.DMA_SOURCE, IMAGE_AT),
            (CardReg.DMA_TARGET, CONFIG),
            (CardReg.DMA_BYTES, len(data)),
        ):
            self.write(register, value)

    async def end_fetch(self) -> None:
        """Wait until an image is fetched, and end it."""
        while await self.read(CardReg.DMA_BYTES):
            pass
        self.write(CardReg.CONFIG, Configure.END)

    async def outcome(self) -> Load:
        """Wait until the configuration port is at rest, and return the outcome of its last image."""
        while (told := await self.read(CardReg.CONFIG)) & CONFIG_LOADING:
            pass
        return Load(told)

    async def load(self, file: str, slot: int | None = None, size: int = FRAME_BYTES) -> None:
        """Load an image and wait for it."""
        self.put_image(build(EXAMPLE, file, slot, size).pack())
        assert await self.outcome() == Load.DONE

    async def clear(self) -> None:
        """Empty the device."""
        self.write(CardReg.CONFIG, Configure.CLEAR)
        assert await self.outcome() == Load.NONE
        assert not await self.read(CardReg.IMAGE)

    async def send(
        self,
        handler: int,
        arguments: tuple[int, int, int, int],
        payload: bytes,
        token: int = 0,
        kind: int = MessageType.ACTIVE,
        destination: int = SELF,
        place: int = 0,
        source: int = SOURCE,
    ) -> None:
        """Put a message into the next queue, once it has room; `place` is that of a segment in a long message."""
        words = (len(payload) + 3) // 4
        header = Header(
            token, 0, kind, 4 * words - len(payload), place, source, words, destination,
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

    async def send_long(
        self, handler: int, arguments: tuple[int, int, int, int], segments: list[bytes], source: int = SOURCE
    ) -> None:
        """Put the segments of a long message into the queues."""
        for number, segment in enumerate(segments):
            place = bool(number) + 2 * (number + 1 < len(segments))
            await self.send(handler, arguments, segment, 0, MessageType.CARD_SEGMENT, SELF, place, source)

    async def long_result(self) -> tuple[list[Header], bytes]:
        """Return the headers of the next result's segments, and its bytes, as a host reassembles them."""
        headers, whole = [], b""
        while True:
            header, payload = await self.result()
            headers.append(header)
            whole += payload
            if header.type not in SEGMENTS and not (header.type == MessageType.CARD_SEGMENT and header.tree & 2):
                return headers, whole

    def fpga_owns(self, bank: int) -> bool:
        """Return True if the FPGA owns a bank, as seen at the bus side."""
        return not int(self.dut.u_card.host_owns.value) >> bank & 1

    def _fits(self, bank: int, size: int) -> bool:
        front, back = self._word(READ[bank]), self._back[bank]
        end = back + size
        return end < front if back < front else end < LIMIT or front != 0

    def back(self) -> int:
        """Return the back pointer of the NIC's queue, as the card wrote it last."""
        return self._word(BACK)

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


async def forward(
    bench: CardBench, circuit: str, mode: Forward, endpoint: int = 0, channel: int = 0, tree: int = 0
) -> None:
    """Set a forwarding entry and wait for the answer."""
    place, handler = entry(mode, endpoint, channel, 99, tree)
    await bench.send(CONTROL_HANDLER, (names(EXAMPLE).index(circuit), place, handler, REPLY_HANDLER), b"")
    header, payload = await bench.result()
    assert (header.destination, header.handler, payload) == (SOURCE, REPLY_HANDLER, b"")


def check_end(bench: CardBench) -> None:
    """Check that no bank was accessed by the side that does not own it."""
    assert not int(bench.dut.both_accessed.value), "a bank was accessed by both sides"
    assert not int(bench.dut.ev_trespass.value)
