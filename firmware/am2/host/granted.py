"""Driver's state of an endpoint, and the process's access to the frame at its present place.

A frame in the NIC's memory is read and written over the bus. While it is absent, the process reads a copy in pinned
host memory, and a store faults into the driver, which loads the frame. During eviction the frame can be read, and a
store waits.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from firmware.am2.nic.layout import FRAME, FRAME_PAGES, NOTES
from firmware.am2.nic.words import NEVER
from firmware.verbs import Buffer
from pymodels.host.faults import ProtectionFault
from pymodels.host.moves import Moves
from pymodels.host.pages import Rights
from pymodels.host.process import Process


@dataclass(eq=False)
class Granted:
    """Endpoint allocated to a process."""

    number: int
    process: Process
    weight: int
    frame: int
    """Virtual address of the frame."""
    copy: int
    """Virtual address of the copy in host memory."""
    image: Buffer
    """Copy in host memory."""
    staging: int
    """Virtual address of the staging blocks."""
    memory: int
    """Physical address of the staging blocks."""
    tag: int = NEVER
    place: int | None = None
    """Index of its frame in the NIC's memory, or None while absent."""
    leaving: bool = False
    stored: bool = False
    """True if the process has stored to the frame since the driver's last check (dirty bit of the page table)."""
    until: int = 0
    """Simulated time before which the frame is not evicted."""
    freed: bool = False
    asleep: bool = False
    """True if the next message interrupts."""
    moves: Moves = field(default_factory=Moves)
    """Notification that ends a loop which spins on the copy."""

    # ---- the process's loads and stores

    async def load(self, offset: int) -> int:
        """Return a word of the frame."""
        if self.place is not None:
            try:
                return await self.process.pio_read(self.frame + offset)
            except ProtectionFault:
                if self.place is not None:
                    raise
        return self.process.load_words(self.copy + offset, 1)[0]

    async def store(self, offset: int, data: bytes) -> None:
        """Store words to the frame, which the driver loads if it is absent."""
        await self.process.pio_write(self.frame + offset, data)
        self.stored = True

    def put_message(self, offset: int, message: int) -> None:
        """Note for the trace that a message begins in the frame, wherever that is."""
        self.process.host.put_message(NOTES + FRAME * self.number + offset, message)

    def message_at(self, offset: int) -> int:
        """Return the number in the trace of the message that begins in the frame."""
        return self.process.host.message_at(NOTES + FRAME * self.number + offset)

    async def spin(self, offset: int, before: int, path: str) -> int:
        """Spin on a word until it changes, and return it. Returns early if the frame is loaded or evicted."""
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
        """Map the frame at a place of the NIC's memory."""
        self.place, self.leaving, self.until, self.stored = place, False, until, True
        self.process.place(self.frame, FRAME, physical)
        self.process.set_rights(self.frame, FRAME, Rights.WRITE)
        self.process.set_present(self.frame, FRAME, True)
        self.moves.moved()

    def leaves(self) -> None:
        """Start the eviction: stores wait from now on."""
        self.leaving = True
        self.process.set_rights(self.frame, FRAME, Rights.READ)

    def stays(self) -> None:
        """Cancel the eviction."""
        self.leaving = False
        self.process.set_rights(self.frame, FRAME, Rights.WRITE)

    def left(self) -> None:
        """Map the copy in host memory after the eviction."""
        self.place, self.leaving = None, False
        self.process.set_present(self.frame, FRAME, False)

    def unmap(self, staging_pages: int) -> None:
        """Remove all mappings of a freed endpoint."""
        self.freed = True
        self.process.unmap(self.frame, FRAME_PAGES)
        self.process.unmap_memory(self.copy, FRAME_PAGES)
        self.process.unmap_memory(self.staging, staging_pages)
