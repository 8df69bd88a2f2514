"""Rounds in which setting and clearing one interrupt meet, on any binding of the verbs and any NIC kind.

Each round asserts the interrupt, and again while the interrupt routine clears it. The second assertion is moved from
round to round over the whole window in which the two can meet. No news may be lost: the host sleeps until it is
interrupted, and polls nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from firmware.common.host.card import acknowledge
from pymodels.kernel import Kernel
from pymodels.nics.fifo.registers import Ready, Region, Size, State, descriptor
from pymodels.nics.sp.registers import SpCommand, SpReg
from pymodels.registers import Isr, Reg

GIVE_UP_PS = 200_000_000
"""A round whose news are not taken within this time has lost an interrupt: ten times the longest latency."""
SILENT_PS = 25_000_000
"""Longest latency of an interrupt, and time for the last store to arrive."""


class Card(Protocol):
    """A card that interrupts its host: how news come to it, and how the host takes them."""

    async def start(self) -> None:
        """Prepare the card; the line is released."""

    async def prepare(self) -> None:
        """Prepare a round; nothing happens yet."""

    def news(self, second: bool) -> None:
        """Let news come, which assert the interrupt."""

    async def take(self, cleared: Callable[[], None]) -> int:
        """Clear the interrupt and return how many news have come; call `cleared` before the store that clears."""


class LanaiCard:
    """A LANai: its processor sets a bit of ISR that EIMR lets through, the host writes 1 to clear the bit."""

    def __init__(self, host: Any, nic: Any) -> None:
        self.host, self.nic, self.came = host, nic, 0

    async def start(self) -> None:
        self.nic.write(Reg.EIMR, 1 << Isr.HOST_SIG)

    async def prepare(self) -> None:
        pass

    def news(self, second: bool) -> None:
        self.came += 1
        self.nic.write(Reg.ISR, 1 << Isr.HOST_SIG)

    async def take(self, cleared: Callable[[], None]) -> int:
        cleared()
        await acknowledge(self.host)
        await self.host.pio_read(self.host.card.register(Reg.ISR))
        came, self.came = self.came, 0
        return came


class MaskedLanaiCard(LanaiCard):
    """A LANai whose processor masks the interrupt in EIMR when the host has taken all, and lets it through for news."""

    async def start(self) -> None:
        self.nic.write(Reg.ISR, 1 << Isr.HOST_SIG)

    def news(self, second: bool) -> None:
        self.came += 1
        self.nic.write(Reg.EIMR, 1 << Isr.HOST_SIG)

    async def take(self, cleared: Callable[[], None]) -> int:
        cleared()
        self.nic.write(Reg.EIMR, 0)
        await self.host.sleep(1_000_000)
        came, self.came = self.came, 0
        return came


class SpCard(LanaiCard):
    """An SP adapter: its processor asserts the interrupt at once, the second time by the command ALARM."""

    async def start(self) -> None:
        pass

    async def prepare(self) -> None:
        self.nic.write(SpReg.COMMAND_HIGH, 1 << SpCommand.ALARM)

    def news(self, second: bool) -> None:
        self.came += 1
        self.nic.write(SpReg.COMMAND_LOW if second else SpReg.INTERRUPT, int(not second))

    async def take(self, cleared: Callable[[], None]) -> int:
        cleared()
        await acknowledge(self.host)
        await self.host.pio_read(self.host.card.control)
        came, self.came = self.came, 0
        return came


class FifoCard:
    """A FIFO card: packets of another host assert the interrupt; the host masks it, takes them, and unmasks it."""

    def __init__(self, host: Any, far: Any, route: bytes) -> None:
        self.host, self.far, self.route = host, far, route

    async def _store(self, host: Any, offset: int, word: int) -> None:
        await host.pio_write(host.nic_base + offset, word.to_bytes(4, "big"))

    async def start(self) -> None:
        for number in range(1, 9):
            await self._store(self.host, Region.RX_FREE, number)
        await self._store(self.host, Region.INTERRUPT, 1)

    async def prepare(self) -> None:
        packet = bytes(-len(self.route) % 8) + self.route + bytes(8)
        for buffer in (20, 21):
            await self.far.pio_write(self.far.nic_base + Size.BUFFER * buffer, packet + bytes(-len(packet) % 4))
            word = descriptor(State.READY, len(self.route) + 8, -len(self.route) % 8)
            await self._store(self.far, Size.DESCRIPTOR * buffer, word)

    def news(self, second: bool) -> None:
        self.far.spawn(self._store(self.far, Region.TX_READY, 20 + second), "the packet")

    async def take(self, cleared: Callable[[], None]) -> int:
        came = 0
        cleared()
        await self._store(self.host, Region.INTERRUPT, 0)
        while (ready := await self.host.pio_read(self.host.nic_base + Region.RX_READY)) >> Ready.VALID:
            came += 1
            await self._store(self.host, Region.RX_NEXT, 0)
            await self._store(self.host, Region.RX_FREE, ready >> Ready.NUMBER & Size.BUFFERS - 1)
        await self._store(self.host, Region.INTERRUPT, 1)
        return came


@dataclass
class Rounds:
    """All rounds on one host."""

    kernel: Kernel
    host: Any
    card: Card
    step_ps: int
    """Time by which the second news come later in each round."""
    first_ps: int = 0
    """Offset of the first round: from the store that clears until the second news."""
    taken: int = 0
    services: int = 0
    lost: list[int] = field(default_factory=list)
    """Offsets of the rounds whose news the host never took."""
    served: list[int] = field(default_factory=list)
    """Calls of the interrupt routine, by round."""
    _offset: int | None = None

    async def run(self, count: int) -> None:
        """Run so many rounds."""
        await self.card.start()
        self.host.on_interrupt(self._serve)
        await self.host.sleep(SILENT_PS)
        for number in range(count):
            await self._round(self.first_ps + number * self.step_ps)

    async def _round(self, offset: int) -> None:
        await self.card.prepare()
        await self.host.sleep(SILENT_PS)
        self.taken, self.services, self._offset = 0, 0, offset
        self.card.news(False)
        end = self.kernel.now + GIVE_UP_PS
        while self.taken < 2 and self.kernel.now < end:
            await self.host.sleep(SILENT_PS)
        await self.host.sleep(2 * SILENT_PS)
        if self.taken != 2:
            self.lost.append(offset)
        self.served.append(self.services)

    async def _serve(self) -> None:
        self.services += 1
        self.taken += await self.card.take(self._cleared)

    def _cleared(self) -> None:
        offset, self._offset = self._offset, None
        if offset is not None:
            self.kernel.at(self.kernel.now + offset, lambda: self.card.news(True))
