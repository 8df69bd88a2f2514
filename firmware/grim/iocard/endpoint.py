"""I/O card as an endpoint of GRIM: the program of its processor, which serves a disk.

The NI writes messages for the card into two rings in local memory in turn, by DMA over PCI. It posts the ring's new
back pointer to the card's inbound port. An interrupt wakes the processor, which answers through its channel's queue in
NI memory, by DMA: message, back pointer and its own read position are one chain of descriptors. The host's driver posts
frames to the same port. Instructions are those of the paths of GRIM's host library.
"""

from __future__ import annotations

import struct
from collections import deque

from firmware.grim.formats import HEADER_BYTES, TAG, Header, MessageType, unpack
from firmware.grim.formats.iocard import FRAME_BYTES, FRAME_WORDS, DiskOp, FrameKind, Opening, Status
from firmware.grim.iocard.disk import Disk
from firmware.grim.iocard.ports import Move, Ports
from firmware.grim.nic.layout import ROUTE_BYTES, fits, following
from firmware.verbs import Host, Signal
from pymodels.card.registers import BANK_BYTES, CardError
from pymodels.iocard.registers import REGISTERS, WINDOW, DmaCause, Inbound

OUTBOX, OUTBOX_STEP, SCRATCH = 0x400000, 0x20000, 0x1A0000
"""Local addresses: messages to send and their distance, single words."""
BUFFERS = 0x480000
"""Local address of the buffers that clients write; they end with local memory."""
PAUSE_PS = 2_000_000
"""Time between two reads of the front pointer of a full queue (ours)."""


class IoEndpoint:
    """Program of one I/O card."""

    def __init__(self, cpu: Host, disk: Disk, access_ps: int = 0) -> None:
        """Create the program.

        Args:
            cpu: Verbs of the card's processor.
            disk: The disk that it serves.
            access_ps: Time of an access of the disk.
        """
        self._cpu, self._disk, self.access_ps = cpu, disk, access_ps
        self._ports = Ports(cpu)
        self._arrived: deque[tuple[int, int]] = deque()
        """Posted MFAs, with the number of resets before each."""
        self._asked = 0
        """Executed requests of the driver that have no answer yet."""
        self._wake: Signal = cpu.event("a message for the I/O card")
        self._resets = 0
        self._open: Opening | None = None
        self._read = [0, 0]
        """Read positions in the rings."""
        self._turn = 0
        """Ring of the next message."""
        self._front = self._back = 0
        """Positions in the channel's queue in NI memory."""
        self._service, self._answer = 0, 0
        """Handler numbers of requests and answers."""
        self.served = 0
        """Number of answered requests of clients."""
        self.aborts = 0
        """Number of DMA chains that a bus abort has ended."""

    async def run(self) -> None:
        """Serve until the run ends."""
        cpu = self._cpu
        cpu.allocate(WINDOW - REGISTERS, 8)  # DMA may write all of local memory
        cpu.on_interrupt(self._interrupt)
        await self._ports.start()
        while True:
            while not self._asked and (self._open is None or not self._arrived):
                self._wake = cpu.event("a message for the I/O card")
                await self._wake.wait()
            if self._asked:
                self._asked -= 1
                await self._ports.reply(await self._ports.returned())
            else:
                await self._message(*self._arrived.popleft())

    async def _interrupt(self) -> None:
        """Serve the card's interrupt: end of DMA, messages of the NI, requests of the driver."""
        if await self._ports.interrupted() >> Inbound.POST & 1:
            for frame in await self._ports.posted():
                if frame & 0xFF:
                    await self._request(frame)
                else:
                    self._arrived.append((frame, self._resets))
            self._wake.set()

    async def _request(self, frame: int) -> None:
        """Execute a request of the driver."""
        await self._cpu.spend("dispatch")
        kind, *words = struct.unpack(f"<{FRAME_WORDS}I", self._cpu.load_bytes(frame, FRAME_BYTES))
        if kind == FrameKind.OPEN:
            self._open = Opening(*words[: len(Opening._fields)])
            self._arrived.clear()  # messages before a loss of power that the NI has not noticed
        elif kind == FrameKind.NUMBERS:
            self._service, self._answer = words[:2]
        elif kind == FrameKind.RESET:
            self._resets += 1
        await self._ports.free(frame)
        self._asked += 1

    # ---- messages of clients

    async def _message(self, frame: int, resets: int) -> None:
        """Execute a message of a client.

        Args:
            frame: Posted MFA: the back pointer of the ring behind the message.
            resets: Number of resets when it was posted.
        """
        cpu, place, turn = self._cpu, self._open, self._turn
        if place is None:
            raise RuntimeError("a message has reached the I/O card before its driver")
        at = REGISTERS + turn * BANK_BYTES + self._read[turn]
        self._read[turn] = int.from_bytes(frame.to_bytes(4, "little"), "big")
        self._turn = 1 - turn
        await cpu.spend("dispatch")
        header = unpack(cpu.load_bytes(at, HEADER_BYTES))
        publish = self._word(place.nic_read + 4 * turn, self._read[turn], SCRATCH)
        if header.type != MessageType.ACTIVE:
            await self._move(publish)
            return
        if header.handler != self._service:
            words = CardError.UNKNOWN_CIRCUIT, header.handler, place.own & 0xFFFF, 0
            await self._move(publish, *await self._send(header, MessageType.ACTIVE, place.error, words, b"", 0))
            return
        status, data = await self._execute(header.arguments, resets)
        operation, _, count, address = (one & 0xFFFFFFFF for one in header.arguments)
        moves = [publish]
        if data:
            moves += await self._send(header, MessageType.RM_V, 0, (address, 0, 0, count), data, 0)
        done = count if status == Status.DONE else 0
        moves += await self._send(header, MessageType.ACTIVE, self._answer, (operation >> 8, status, done, 0), b"", 1)
        await self._move(*moves)
        self.served += 1

    async def _execute(self, arguments: tuple[int, int, int, int], resets: int) -> tuple[Status, bytes]:
        """Execute a disk request; return its status, and the data of a successful read."""
        operation, block, count, address = (one & 0xFFFFFFFF for one in arguments)
        operation &= 0xFF
        assert self._open is not None
        if status := self._disk.check(operation, block, count, self._open.segment):
            return status, b""
        if operation == DiskOp.WRITE and (address % 8 or not BUFFERS <= address <= WINDOW - count):
            return Status.ADDRESS, b""
        if self.access_ps:
            await self._cpu.sleep(self.access_ps, "the disk")
        if resets != self._resets:
            return Status.ABORTED, b""
        if operation == DiskOp.READ:
            return Status.DONE, self._disk.read(block, count)
        self._disk.write(block, self._cpu.load_bytes(address, count))
        return Status.DONE, b""

    # ---- the channel's queue in NI memory

    async def _send(
        self, to: Header, kind: int, handler: int, arguments: tuple[int, int, int, int], data: bytes, slot: int
    ) -> list[Move]:
        """Build a message to the source of `to`, and return the DMA transfers that append it to the NI's queue."""
        cpu, place = self._cpu, self._open
        assert place is not None
        await cpu.spend("send")
        words = (len(data) + 3) // 4
        channel = (place.own >> 16) << 8 | to.channel >> 8
        header = Header(
            0,
            0,
            kind,
            4 * words - len(data),
            0,
            place.own & 0xFFFF,
            words,
            to.source & ~TAG,
            channel,
            handler,
            arguments,
        )
        size = ROUTE_BYTES + HEADER_BYTES + (len(data) + 7 & ~7)
        while not fits(self._front, self._back, size, place.nic_limit):
            at = SCRATCH + 64 + place.nic_front % 8
            await self._move((place.nic_front, at, 4, False))
            self._front = int.from_bytes(cpu.load_bytes(at, 4), "big")
            if not fits(self._front, self._back, size, place.nic_limit):
                await cpu.sleep(PAUSE_PS, "room in the card's queue in the NI")
        outbox = OUTBOX + slot * OUTBOX_STEP
        cpu.store_bytes(outbox, header.pack() + data)
        begin, self._back = self._back, following(self._back, size, place.nic_limit)
        message = (place.nic_queue + begin + ROUTE_BYTES, outbox, size - ROUTE_BYTES, True)
        return [message, self._word(place.nic_back, self._back, SCRATCH + 16 * (slot + 1))]

    def _word(self, address: int, value: int, scratch: int) -> Move:
        """Return the DMA transfer that stores a big-endian word in NI memory."""
        at = scratch + address % 8
        self._cpu.store_bytes(at, value.to_bytes(4, "big"))
        return address, at, 4, True

    async def _move(self, *moves: Move) -> None:
        if await self._ports.move(*moves) != DmaCause.NONE:
            self.aborts += 1
