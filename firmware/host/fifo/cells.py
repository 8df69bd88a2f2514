"""The FIFO card's driver with cells: a message is cut into cells of 44 bytes, and reassembled at the receiver.

The first word of a cell's payload names the source of its message, and the number of bytes left, this cell included.
The header's VCI has the destination, which is the circuit, in its low bits, and the source above; VPI counts cells.
"""

from __future__ import annotations

import struct

from firmware.layers import ClusterView
from firmware.verbs import Host
from pymodels.nics.fifo.registers import Form, Region, Size, Status, circuit
from pymodels.trace import TraceEvent

WORD = struct.Struct(">BBH")
"""Source, number of the message, bytes left."""
PART = Size.PAYLOAD - WORD.size
MOST = 0xFFFF
MASK = 0xFF


class Cells:
    """`start`, `send`, `receive`. One task may send and one may receive at the same time."""

    def __init__(self, host: Host, view: ClusterView) -> None:
        self.host, self.view = host, view
        self.partners = sorted(vnn for vnn in view.routes if vnn != view.me)
        self._number = self._sends = 0
        self._cells = 0
        self._room = int(Size.OUT_CELLS)
        self._there = 0
        self._coming: dict[int, bytearray] = {}

    async def start(self) -> None:
        """Choose the card's form, and give each destination's circuit its route. Call this first."""
        await self._store(Region.MODE, int(Form.CELLS).to_bytes(4, "big"))
        for vnn in self.partners:
            await self._store(Size.CIRCUIT * vnn, circuit(self.view.routes[vnn]))

    async def send(self, destination: int, payload: bytes) -> None:
        """Send a message; waits where the FIFO is full. ValueError names a bad argument."""
        if destination not in self.partners or len(payload) > MOST:
            raise ValueError(f"destination {destination} (of {self.partners}) or payload ({len(payload)} of {MOST} B)")
        self._number = self._number + 1 & MASK
        self._sends += 1
        send = self._sends
        self.host.trace(TraceEvent.SEND_CALL, 0, len(payload), send)
        for at in range(0, max(len(payload), 1), PART):
            await self._room_for_one()
            self._cells = self._cells + 1 & MASK
            header = self._cells << 20 | self.view.me << 10 | destination << 4
            part = payload[at : at + PART].ljust(PART, b"\0")
            await self.host.spend("cell")
            await self.host.spend("store_word", PART // 4)
            words = header.to_bytes(4, "big") + WORD.pack(self.view.me, self._number, len(payload) - at) + part
            await self._store(Region.CELL_OUT + Size.CELL_HEADER, words)
            self.host.trace(TraceEvent.PAYLOAD_WRITTEN, header, Size.CELL, send)

    async def receive(self) -> tuple[int, bytes]:
        """Wait for the next complete message: (source node, payload)."""
        while True:
            while not self._there:
                self._there = await self._status() >> Status.RECEIVE_LEVEL
                await self.host.spend("look_status")
            self._there -= 1
            self.host.trace(TraceEvent.POLL_HIT)
            source, left = await self._take()
            if left <= PART:
                self.host.trace(TraceEvent.HANDLER_START, 0, 0, source)
                return source, bytes(self._coming.pop(source))

    async def arrived(self) -> int:
        """Cells that have arrived and were not received."""
        return await self._status() >> Status.RECEIVE_LEVEL

    async def _room_for_one(self) -> None:
        while not self._room:
            self._room = Size.OUT_CELLS - (await self._status() >> Status.SEND_LEVEL & 0xFF)
            await self.host.spend("look_status")
        self._room -= 1

    async def _take(self) -> tuple[int, int]:
        """The oldest cell: its source, and the bytes that were left, this cell included."""
        begin = self.host.nic_base + Region.CELL_IN + Size.CELL_PAYLOAD
        first = await self.host.pio_read(begin)
        await self.host.spend("take_cell")
        source, _, left = WORD.unpack(first.to_bytes(4, "big"))
        size = min(left, PART)
        count = -(-size // 4)
        words = [await self.host.pio_read(begin + WORD.size + 4 * index) for index in range(count)]
        await self.host.spend("load_word", count)
        await self._store(Region.CELL_NEXT, bytes(4))
        self._coming.setdefault(source, bytearray()).extend(struct.pack(f">{count}I", *words)[:size])
        return source, left

    async def _status(self) -> int:
        return await self.host.pio_read(self.host.nic_base + Region.STATUS)

    async def _store(self, place: int, data: bytes) -> None:
        await self.host.pio_write(self.host.nic_base + place, data)
