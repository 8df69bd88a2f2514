"""RDMA writes at their target: two ways from an address of the initiator to the target's memory (paper 001, 3.2.2).

`buffer`: each packet goes into a buffer of the kernel, which checks it and copies it. `table`: the NIC checks the
address itself, and looks the page frame up in the region's table in host memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from firmware.nic.via.awaited import Awaited
from firmware.nic.via.layout import RDMA_WRITE, VALID, Word
from firmware.nic.via.layout import Region as At
from firmware.nic.via.ni import Endpoint, Ni
from firmware.nic.via.slots import CONFIRM, SLOT_HEADER, SLOTS, WriteSlot, slot_bytes
from firmware.nic.via.translation import Frames
from firmware.nic.via.user_pages import PAGE
from firmware.verbs import Watch
from pymodels.formats.via import Reliability


@dataclass
class Writing:
    """An RDMA write that arrives: where its next byte goes."""

    va: int
    handle: int
    length: int = 0
    """Bytes that have come."""
    page: int = -1
    """Index, in the region, of the page whose frame is known."""
    frame: int = 0


class Writes(Protocol):
    """What becomes of the pieces of RDMA writes."""

    def start(self) -> None:
        """The port's services are known."""

    async def piece(self, endpoint: Endpoint, writing: Writing, size: int, last: bool) -> bool:
        """Bring the packet's payload where it belongs; False when it may not go there."""

    async def settle(self) -> None:
        """Return when all pieces so far are in memory before anything that is stored from now on."""

    def confirms(self, endpoint: Endpoint) -> bool:
        """Whether the kernel says when the message is to be answered."""


class Lookup:
    """`table`."""

    def __init__(self, ni: Ni, frames: Frames) -> None:
        self._ni, self._nic, self._port = ni, ni.nic, ni.port
        self._frames = frames

    def start(self) -> None:
        """Nothing to wait for."""

    async def piece(self, endpoint: Endpoint, writing: Writing, size: int, last: bool) -> bool:
        """Page by page; a page whose frame is not known costs a DMA."""
        if not await self._allowed(endpoint, writing, size):
            return False
        region = self._ni.layout.region(writing.handle)
        first = self._nic.load(region + At.VA) // PAGE
        while size:
            page = writing.va // PAGE - first
            if page != writing.page:
                writing.frame = await self._frames.frame(region, writing.handle, page)
                writing.page = page
            part = min(size, PAGE - writing.va % PAGE)
            await self._nic.work("write_piece")
            await self._port.deliver(writing.frame + writing.va % PAGE, part)
            writing.va, writing.length, size = writing.va + part, writing.length + part, size - part
        if last and endpoint.reliability == Reliability.RECEPTION:  # something to wait for: a word behind the data
            await self._ni.store(self._nic.load(Word.SCRATCH), (0,))
        return True

    async def _allowed(self, endpoint: Endpoint, writing: Writing, size: int) -> bool:
        """Whether a range is registered for RDMA writes under the VI's tag."""
        await self._nic.work("write_check")
        layout = self._ni.layout
        if not layout.has_region(writing.handle):
            return False
        row = self._nic.load_words(layout.region(writing.handle), At.FLAGS // 4 + 1)
        handle, va, length, tag, _, flags = row
        inside = va <= writing.va and writing.va + size <= va + length
        if writing.va & 3 and self._nic.word_bytes == 4:  # a LANai 4 moves whole words
            return False
        return (
            handle == writing.handle and tag == endpoint.tag() and bool(flags & endpoint.rights & RDMA_WRITE) and inside
        )

    async def settle(self) -> None:
        """Deliveries and stores keep their order."""

    def confirms(self, endpoint: Endpoint) -> bool:
        """No."""
        return False


class KernelBuffer:
    """`buffer`."""

    def __init__(self, ni: Ni) -> None:
        self._ni, self._nic, self._port = ni, ni.nic, ni.port
        self._given = 0
        self._taken = Awaited(ni, Watch(Word.WRITES_TAKEN, 0, "look_taken"))

    def start(self) -> None:
        """The port's services are known."""
        self._taken.start()

    async def piece(self, endpoint: Endpoint, writing: Writing, size: int, last: bool) -> bool:
        """Payload into the next slot, then what the kernel must know, and an interrupt."""
        await self._wait(SLOTS - 1)
        await self._nic.work("write_to_kernel")
        at = self._nic.load(Word.WRITES) + slot_bytes(self._ni.options.packet) * (self._given % SLOTS)
        self._given = self._given + 1 & 0xFFFFFFFF
        if size:
            await self._port.deliver(at + SLOT_HEADER, size)
        confirm = CONFIRM if last and self.confirms(endpoint) else 0
        words = (writing.va, writing.handle, size, VALID | confirm | endpoint.number)
        await self._ni.store(at + WriteSlot.VA, words)
        await self._port.interrupt()
        writing.va, writing.length = writing.va + size & 0xFFFFFFFF, writing.length + size
        return True

    async def _wait(self, most: int) -> None:
        """Until the kernel has taken all pieces but so many."""
        while self._given - (taken := self._taken.now) & 0xFFFFFFFF > most:
            await self._taken.change(taken)

    async def settle(self) -> None:
        """Wait until the kernel has copied everything."""
        await self._wait(0)

    def confirms(self, endpoint: Endpoint) -> bool:
        """Only the kernel knows when it has copied a message."""
        return endpoint.reliability == Reliability.RECEPTION
