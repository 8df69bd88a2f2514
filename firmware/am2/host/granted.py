"""What the driver knows of an endpoint, and how its process reaches the frame wherever that is.

A frame in the NIC's memory is read and written over the bus. While it is absent the process reads a copy in pinned host
memory, and a store faults into the driver, which brings it. While it is to leave it can be read, and a store waits.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from firmware.am2.nic.layout import FRAME, FRAME_PAGES
from firmware.am2.nic.words import NEVER
from firmware.verbs import Buffer
from pymodels.host.faults import ProtectionFault
from pymodels.host.moves import Moves
from pymodels.host.pages import Rights
from pymodels.host.process import Process


@dataclass(eq=False)
class Granted:
    """An endpoint as its process has it."""

    number: int
    process: Process
    weight: int
    frame: int
    """Virtual address of its frame."""
    copy: int
    """Virtual address of the copy in host memory."""
    image: Buffer
    """That copy."""
    staging: int
    """Virtual address of its staging blocks."""
    memory: int
    """Their physical address."""
    tag: int = NEVER
    place: int | None = None
    """Which frame of the NIC's memory it has; None: it is absent."""
    leaving: bool = False
    stored: bool = False
    """A store has gone to it since the driver looked last: the bit that the CPU sets in its page table."""
    until: int = 0
    """It stays in its frame until then at least."""
    freed: bool = False
    asleep: bool = False
    """Its next message interrupts."""
    moves: Moves = field(default_factory=Moves)
    """Ends a loop that spins on the copy."""

    # ---- the process's loads and stores

    async def load(self, offset: int) -> int:
        """A word of the frame."""
        if self.place is not None:
            try:
                return await self.process.pio_read(self.frame + offset)
            except ProtectionFault:
                if self.place is not None:
                    raise
        return self.process.load_words(self.copy + offset, 1)[0]

    async def store(self, offset: int, data: bytes) -> None:
        """Words of the frame; the driver brings it if it is absent."""
        await self.process.pio_write(self.frame + offset, data)
        self.stored = True

    async def spin(self, offset: int, before: int, path: str) -> int:
        """Spin on a word until it has changed: that word. May return early when the frame comes or leaves."""
        if self.place is not None:
            try:
                return await self.process.poll_card(self.frame + offset, before, path)
            except ProtectionFault:
                if self.place is not None:
                    raise
        await self.process.poll([(self.copy + offset, before)], path, self.moves)
        return await self.load(offset)

    # ---- the driver's page table

    def came(self, place: int, physical: int, until: int) -> None:
        """It is at a place of the NIC's memory."""
        self.place, self.leaving, self.until, self.stored = place, False, until, True
        self.process.place(self.frame, FRAME, physical)
        self.process.set_rights(self.frame, FRAME, Rights.WRITE)
        self.process.set_present(self.frame, FRAME, True)
        self.moves.moved()

    def leaves(self) -> None:
        """Its frame is to leave: stores wait from now on."""
        self.leaving = True
        self.process.set_rights(self.frame, FRAME, Rights.READ)

    def stays(self) -> None:
        """It is not."""
        self.leaving = False
        self.process.set_rights(self.frame, FRAME, Rights.WRITE)

    def left(self) -> None:
        """It is in host memory."""
        self.place, self.leaving = None, False
        self.process.set_present(self.frame, FRAME, False)

    def unmap(self, staging_pages: int) -> None:
        """The process has it no more."""
        self.freed = True
        self.process.unmap(self.frame, FRAME_PAGES)
        self.process.unmap_memory(self.copy, FRAME_PAGES)
        self.process.unmap_memory(self.staging, staging_pages)
