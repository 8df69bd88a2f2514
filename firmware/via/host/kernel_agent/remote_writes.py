"""Kernel's part of incoming RDMA writes: it checks and copies the packets in its buffer (paper 001, 3.2.2).

Used with `via.rdma=buffer`.
"""

from __future__ import annotations

from firmware.common.host.words import store_words
from firmware.via.host.kernel_agent.memory.registry import Region, Registry
from firmware.via.host.kernel_agent.vis.table import ViTable
from firmware.via.nic.layout import Command, State, Word
from firmware.via.nic.slots import SLOT_HEADER, SLOTS, WriteSlot, slot_bytes
from firmware.via.nic.words import SlotWord

COPY_PS = 100_000
"""Polling interval of a wait for a copy, in ps."""


class RemoteWrites:
    """Incoming RDMA writes of one host."""

    def __init__(self, registry: Registry, vis: ViTable) -> None:
        shared = vis.shared
        self._registry, self._vis = registry, vis
        self._host, self._commands = shared.host, shared.commands
        self._stride = slot_bytes(shared.options.packet)
        self._base = self._host.allocate(self._stride * SLOTS).address
        self._taken = self._refused = 0
        """Number of emptied slots, and a bit for each slot whose write was rejected."""
        self._busy = False
        self._into: Region | None = None
        """Region that is being copied to, or None."""
        self.refused = 0
        """Number of packets that named memory which they may not write."""

    async def start(self, scratch: int) -> None:
        """Send the NIC the addresses of the buffer and of the scratch word."""
        await store_words(self._host, Word.WRITES, self._base, 0, scratch)

    def look(self) -> None:
        """Start copying if a slot is full. Called after an interrupt."""
        if not self._busy and self._slot()[1].word:
            self._busy = True
            self._host.spawn(self._copy_all(), "RDMA writes")

    def _slot(self) -> tuple[int, SlotWord]:
        """Return the address of the next slot, and its word that marks it as full."""
        at = self._base + self._stride * (self._taken % SLOTS)
        return at, SlotWord(*self._host.load_words(at + WriteSlot.VI, 1))

    async def _copy_all(self) -> None:
        while True:
            at, whose = self._slot()
            if not whose.word:
                break
            self._host.store_words(at + WriteSlot.VI, (0,))
            copied = await self._copy(at, whose)
            await self._return_slot(not copied)
            if not copied or whose.confirm:
                await self._commands.give(Command.COPIED, self._vis.agents)
        self._busy = False

    async def _return_slot(self, refused: bool) -> None:
        """Return the slot to the NIC, with the result of the write."""
        bit = 1 << self._taken % SLOTS
        if refused != bool(self._refused & bit):
            self._refused ^= bit
            await store_words(self._host, Word.WRITES_REFUSED, self._refused)
        self._taken = self._taken + 1 & 0xFFFFFFFF
        await store_words(self._host, Word.WRITES_TAKEN, self._taken)

    async def _copy(self, at: int, whose: SlotWord) -> bool:
        """Copy the write in a slot to its destination. Return False if it is not allowed."""
        va, handle, size = self._host.load_words(at, 3)
        await self._host.spend("check_write")
        region = self._allowed(whose, va, handle, size)
        if region is None:
            self.refused += 1
            return False
        done, self._into = 0, region
        for physical, part in region.pieces(va, size):
            await self._host.copy_memory("copy_line", physical, at + SLOT_HEADER + done, part)
            done += part
        self._into = None
        return True

    async def left(self, region: Region) -> None:
        """Wait until no copy into a hidden region is in progress."""
        while self._into is region:
            await self._host.sleep(COPY_PS, "the copy of an RDMA write")

    def _allowed(self, whose: SlotWord, va: int, handle: int, size: int) -> Region | None:
        """Return the region that a write may go to, or None.

        It must be registered for RDMA writes under the VI's tag, and the connection must be the present one.
        """
        vi = self._vis.contexts[whose.vi]
        region = self._registry.get(handle)
        if region is None or vi.state is not State.CONNECTED or not whose.means(vi.generation):
            return None
        if not (region.attributes.rdma_write and vi.attributes.rdma_write):
            return None
        inside = region.va <= va and va + size <= region.va + region.size
        return region if inside and region.process is vi.process and region.tag == vi.tag else None
