"""RDMA writes at their target: two ways from an address of the initiator to the target's memory (paper 001, 3.2.2).

`buffer`: each packet goes into a buffer of the kernel, which checks it and copies it. `table`: the NIC checks the
address itself, and reads the page frame from the region's table in host memory.
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple, Protocol

from firmware.verbs import Watch
from firmware.via.formats import Header, Kind, Reliability
from firmware.via.nic.ack_sender import AckSender
from firmware.via.nic.breaking import Breaking
from firmware.via.nic.connection import Connection
from firmware.via.nic.endpoint import Endpoint
from firmware.via.nic.incoming import IncomingWrite
from firmware.via.nic.kernel_wait import KernelWait
from firmware.via.nic.layout import RDMA_WRITE, Word
from firmware.via.nic.layout import Region as At
from firmware.via.nic.ni import Ni
from firmware.via.nic.slots import SLOT_HEADER, SLOTS, WriteSlot, slot_bytes
from firmware.via.nic.translation import Frames
from firmware.via.nic.user_pages import PAGE
from firmware.via.nic.words import SlotWord


class Piece(NamedTuple):
    """Packet of an RDMA write that was handed to the kernel."""

    endpoint: Endpoint
    connection: Connection
    writing: IncomingWrite
    number: int
    """Number of the message."""
    last: bool
    message: int
    """Number of the message in the trace."""


class RdmaWrites(Protocol):
    """Handling of the packets of RDMA writes."""

    async def piece(self, endpoint: Endpoint, writing: IncomingWrite, size: int, header: Header) -> bool:
        """Deliver the packet's payload to its address. Return False if the write is not allowed."""

    async def settle(self) -> None:
        """Wait until all earlier packets are in memory, or will be before any later store, or are rejected."""

    async def copied(self) -> None:
        """Acknowledge or reject the messages that the kernel has completed."""

    confirms: bool
    """True if `copied` acknowledges every message."""


class Lookup:
    """RDMA writes with option `table`: the NIC translates the address."""

    confirms = False

    def __init__(self, ni: Ni, frames: Frames) -> None:
        self._ni, self._nic, self._port = ni, ni.nic, ni.port
        self._frames = frames

    async def piece(self, endpoint: Endpoint, writing: IncomingWrite, size: int, header: Header) -> bool:
        """Deliver the payload page by page. A page with an unknown frame costs one DMA read."""
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
        stored = endpoint.connection.reliability == Reliability.RECEPTION
        if stored and header.last:  # a store after the data, whose completion can be awaited
            await self._ni.store(self._nic.load(Word.SCRATCH), (0,), self._port.head().message)
        return True

    async def _allowed(self, endpoint: Endpoint, writing: IncomingWrite, size: int) -> bool:
        """Return True if the range is registered for RDMA writes under the VI's tag."""
        await self._nic.work("write_check")
        layout = self._ni.layout
        if not layout.has_region(writing.handle):
            return False
        row = self._nic.load_words(layout.region(writing.handle), At.FLAGS // 4 + 1)
        handle, va, length, tag, _, flags = row
        inside = va <= writing.va and writing.va + size <= va + length
        if writing.va & 3 and self._nic.word_bytes == 4:  # a LANai 4 moves whole words
            return False
        given = bool(flags & endpoint.connection.rights & RDMA_WRITE)
        return handle == writing.handle and tag == endpoint.tag() and given and inside

    async def settle(self) -> None:
        """Return at once: deliveries and stores keep their order."""

    async def copied(self) -> None:
        """Do nothing: the kernel is not involved."""


class KernelBuffer:
    """RDMA writes with option `buffer`: the kernel checks and copies each packet, and reports the result."""

    confirms = True

    def __init__(self, ni: Ni, acks: AckSender, breaking: Breaking) -> None:
        self._ni, self._nic, self._port = ni, ni.nic, ni.port
        self._acks, self._breaking = acks, breaking
        self._given = self._dealt = 0
        self._pieces: deque[Piece] = deque()
        """Packets between the two counts: handed to the kernel and not yet completed here."""
        self._taken = KernelWait(ni, Watch(Word.WRITES_TAKEN, 0, "look_taken"))

    async def piece(self, endpoint: Endpoint, writing: IncomingWrite, size: int, header: Header) -> bool:
        """Store payload and control words into the next slot, and interrupt the host."""
        connection = endpoint.connection
        await self._wait(SLOTS - 1)
        if not endpoint.connected(connection):
            return True  # the connection broke during the wait
        await self._nic.work("write_to_kernel")
        at = self._nic.load(Word.WRITES) + slot_bytes(self._ni.options.packet) * (self._given % SLOTS)
        self._given = self._given + 1 & 0xFFFFFFFF
        its = self._port.head().message
        self._pieces.append(Piece(endpoint, connection, writing, header.number, header.last, its))
        connection.awaits_writes = True
        if size:
            await self._port.deliver(at + SLOT_HEADER, size)
        confirm = header.last and bool(connection.reliable)
        (whose,) = SlotWord.encode(endpoint.number, endpoint.generation, confirm=confirm)
        await self._ni.store(at + WriteSlot.VA, (writing.va, writing.handle, size, whose), its)
        await self._port.interrupt()
        writing.va, writing.length = writing.va + size & 0xFFFFFFFF, writing.length + size
        return True

    async def _wait(self, most: int) -> None:
        """Wait until at most `most` packets are left to the kernel."""
        while self._given - (taken := self._taken.now) & 0xFFFFFFFF > most:
            await self._taken.change(taken)
        await self.copied()

    async def settle(self) -> None:
        """Wait until the kernel has completed all packets."""
        await self._wait(0)

    async def copied(self) -> None:
        """Acknowledge or reject the messages that the kernel has completed."""
        taken, refused = self._taken.now, self._nic.load(Word.WRITES_REFUSED)
        while self._dealt != taken:
            await self._nic.work("write_copied")
            one, bit = self._pieces.popleft(), self._dealt % SLOTS
            self._dealt = self._dealt + 1 & 0xFFFFFFFF
            one.writing.refused |= bool(refused >> bit & 1)
            if not (one.connection.reliable and one.endpoint.connected(one.connection)):
                continue
            if one.writing.refused:
                await self._breaking.refuse(one.endpoint, Kind.NOT_ALLOWED, one.number, one.message)
            elif one.last:
                await self._acks.send(one.connection, Kind.DONE, one.number, one.message)
