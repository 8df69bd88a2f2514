"""Two GRIM nodes on the machine, of which node 1 has an FPGA card with memory, but without a shell."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

from firmware.grim.formats import Device, Reference
from firmware.grim.host import Grim, GrimError
from firmware.grim.host.fpga import FpgaCard
from firmware.grim.nic.cards import CARD
from pymodels.card.fabric import Circuit
from pymodels.card.registers import REGISTERS, CardReg, Load
from pymodels.config.model import FPGA_CARD
from pymodels.machine.host_dma import MasterAbort
from pymodels.machine.memory import Memory
from tests.unit.grim.grim_bench import Bench

FAR = Reference(1, Device.CELOXICA, 0).pack()
"""Endpoint of the card."""
FILLED = b"\x5a"
"""Value of every byte of the card's banks at first."""


WINDOW_BYTES = REGISTERS + 256
"""Bytes of the card's window that exist: the banks and the registers."""


class Window:
    """Host memory and, beside it, the banks and registers of an FPGA card, as the NIC's DMA accesses both."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self.banks = bytearray(FILLED * WINDOW_BYTES)
        self.silent = False
        """True while the card has no power."""
        self.order: list[tuple[int, int]] = []
        """Offset and bytes of each write to a bank, in order."""

    def granted(self, address: int, size: int) -> None:
        """Grant access to all of the card's banks and registers."""
        assert CARD <= address <= address + size <= CARD + WINDOW_BYTES or address + size <= self.memory.size

    def read(self, address: int, size: int) -> bytes:
        """Return bytes."""
        if address < CARD:
            return self.memory.read(address, size)
        if self.silent:
            raise MasterAbort
        return bytes(self.banks[address - CARD : address - CARD + size])

    def write(self, address: int, data: bytes) -> None:
        """Write one piece of a transfer."""
        if address < CARD:
            self.memory.write(address, data)
            return
        if self.silent:
            raise MasterAbort
        self.banks[address - CARD : address - CARD + len(data)] = data
        self.order.append((address - CARD, len(data)))


class CardBench:
    """Node 0 accesses the card of node 1, whose driver opens windows."""

    def __init__(self, **options: int) -> None:
        self.bench = bench = Bench(2, start_nics=False, channels=2, **options)  # type: ignore[arg-type]
        has, circuits = (frozenset[str](), frozenset({FPGA_CARD})), (Circuit("image", 0, "loopback"),)
        settings = {"clock_divisor": 1, "image_bytes": 64, "slot_bytes": 32}
        bench.views = [replace(view, cards=has, circuits=circuits, fpga=settings) for view in bench.views]
        bench.libraries = [Grim(bench.machine.host(node), bench.views[node]) for node in range(2)]
        dma = bench.machine.nic(1).dma
        self.values: dict[int, int] = {}
        """Values that the host has last written to the card's registers, by address."""
        self.window = window = Window(dma.host_memory)
        dma.host_memory, dma.check_grant = window, window.granted  # type: ignore[assignment]
        self._registers(bench.machine.host(1))
        for node in range(2):
            bench.start_nic(node)
        self.near, self.far = bench.libraries

    def _registers(self, host: Any) -> None:
        """Replace the host's accesses of the card's registers, which hold what was last written."""
        values = self.values
        pio_write, pio_read = host.pio_write, host.pio_read

        async def write(address: int, data: Any, *others: Any, **named: Any) -> None:
            if address >= CARD:
                values[address] = int.from_bytes(data, "big")
            else:
                await pio_write(address, data, *others, **named)

        async def read(address: int) -> int:
            if address in (CARD + REGISTERS + CardReg.CONFIG, CARD + REGISTERS + CardReg.DMA_BYTES):
                return Load.DONE if address & 0xFF == CardReg.CONFIG else 0
            return values.get(address, 0) if address >= CARD else await pio_read(address)

        host.pio_write, host.pio_read = write, read

    @property
    def driver(self) -> FpgaCard:
        """Driver of the card."""
        assert isinstance(self.far.card, FpgaCard)
        return self.far.card

    def run(self, application: Callable[[], Awaitable[Any]]) -> Any:
        """Run `application` while node 0 can send, and return its result once everything has settled."""
        over, enabled = False, 0

        async def node(library: Grim, me: int) -> Any:
            nonlocal over, enabled
            enabled += 1
            while enabled < self.bench.nodes:
                await library.host.sleep(1_000_000)
            if me == 0:
                result = await application()
                over = True
                return result
            while not over:
                await library.host.sleep(1_000_000)
            return None

        result = self.bench.run(node)[0]
        self.bench.settle()
        assert self.bench.nothing_left()
        return result

    async def source(self, data: bytes) -> int:
        """Return the address of a new block of node 0 with these bytes."""
        block = await self.near.malloc_pinned(len(data) + 4)
        self.near.store_pinned(block, data)
        return block

    async def error_of(self, call: Awaitable[None]) -> str:
        """Return the text of the error that a later call raises."""
        await call
        try:
            await self.near.wait_for(lambda: False)
        except GrimError as error:
            return str(error)
        return ""

    def touched(self) -> bool:
        """Return True if a byte of the banks was written."""
        return bool(self.window.order)
