"""Registers, queues and DMA engine of the I/O card as its processor uses them."""

from __future__ import annotations

import struct

from firmware.verbs import Host, Signal
from pymodels.iocard.registers import DESCRIPTOR_BYTES, DmaCause, Inbound, IoReg, Queue, descriptor

QUEUES, LOG2 = 0x100000, 15
"""Local address of the queues of the message unit, and binary logarithm of their entries. A queue has room for more
messages than the incoming rings can hold, since the NI does not check for room.
"""
FRAMES, FRAME_STEP, FRAME_COUNT = 0x180020, 0x100, 8
"""Inbound frames of the host's driver. The low byte of an address is not 0, unlike that of a back pointer."""
DESCRIPTORS = 0x190000
PERMITTED = 0xFF & ~(1 << Inbound.POST | 1 << Inbound.DMA_DONE | 1 << Inbound.DMA_ERROR)
"""Mask of the interrupts in use."""
Move = tuple[int, int, int, bool]
"""DMA transfer: PCI address, local address, bytes, True for local memory to bus."""


class Ports:
    """Message unit and DMA engine of one card."""

    def __init__(self, cpu: Host) -> None:
        self._cpu = cpu
        self._posted, self._free, self._replied, self._returned = 0, 0, 0, 0
        self._moved: Signal | None = None

    async def read(self, register: int) -> int:
        """Return the value of a register."""
        return int.from_bytes((await self._cpu.pio_read(register)).to_bytes(4, "big"), "little")

    async def write(self, register: int, value: int) -> None:
        """Write a register."""
        await self._cpu.pio_write(register, value.to_bytes(4, "little"))

    async def start(self) -> None:
        """Enable the message unit with empty inbound frames for the host."""
        await self.write(IoReg.QUEUES, QUEUES)
        await self.write(IoReg.CONTROL, LOG2 << 8 | 1)
        for number in range(FRAME_COUNT):
            await self.free(FRAMES + FRAME_STEP * number)
        await self.write(IoReg.INBOUND_MASK, PERMITTED)

    async def free(self, frame: int) -> None:
        """Return an inbound frame to the host."""
        self._free = await self._put(Queue.INBOUND_FREE, self._free, frame)

    async def reply(self, frame: int) -> None:
        """Post an outbound frame to the host."""
        self._replied = await self._put(Queue.OUTBOUND_POST, self._replied, frame)

    async def posted(self) -> list[int]:
        """Take all posted MFAs out of the inbound post queue."""
        head, taken = await self.read(IoReg.INBOUND_POST_HEAD), []
        while self._posted != head:
            taken.append(self._word(Queue.INBOUND_POST, self._posted))
            self._posted = (self._posted + 1) % (1 << LOG2)
        if taken:
            await self.write(IoReg.INBOUND_POST_TAIL, head)
        return taken

    async def returned(self) -> int:
        """Take an empty outbound frame, which the host has returned before its request."""
        if await self.read(IoReg.OUTBOUND_FREE_HEAD) == self._returned:
            raise RuntimeError("the driver posted a request without an outbound frame for the answer")
        frame = self._word(Queue.OUTBOUND_FREE, self._returned)
        self._returned = (self._returned + 1) % (1 << LOG2)
        await self.write(IoReg.OUTBOUND_FREE_TAIL, self._returned)
        return frame

    async def move(self, *moves: Move) -> DmaCause:
        """Execute a chain of DMA transfers, and return the cause of an error, or NONE."""
        cpu = self._cpu
        for number, move in enumerate(moves):
            at = DESCRIPTORS + DESCRIPTOR_BYTES * number
            following = at + DESCRIPTOR_BYTES if number + 1 < len(moves) else 0
            cpu.store_bytes(at, struct.pack("<4I", *descriptor(*move, following=following)))
        self._moved = cpu.event("the DMA engine of the I/O card")
        await self.write(IoReg.DMA_DESCRIPTOR, DESCRIPTORS)
        await self._moved.wait()
        self._moved = None
        return DmaCause(await self.read(IoReg.DMA_STATUS) >> 8 & 3)

    async def interrupted(self) -> int:
        """Return the pending interrupts, acknowledge those of the DMA engine, and wake its user."""
        pending = await self.read(IoReg.INBOUND_STATUS)
        if ended := pending & (1 << Inbound.DMA_DONE | 1 << Inbound.DMA_ERROR):
            await self.write(IoReg.INBOUND_STATUS, ended)
            if self._moved is not None:
                self._moved.set()
        return pending

    async def _put(self, queue: Queue, index: int, frame: int) -> int:
        self._cpu.store_bytes(self._entry(queue, index), frame.to_bytes(4, "little"))
        after = (index + 1) % (1 << LOG2)
        await self.write(IoReg.INBOUND_FREE_HEAD + 8 * queue, after)
        return after

    def _entry(self, queue: Queue, index: int) -> int:
        return QUEUES + 4 * ((queue << LOG2) + index)

    def _word(self, queue: Queue, index: int) -> int:
        return int.from_bytes(self._cpu.load_bytes(self._entry(queue, index), 4), "little")
