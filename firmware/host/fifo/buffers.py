"""The FIFO card's driver with buffers: packets are written and read in place, in the card's memory.

Every partner has eight send buffers, used in turn, and eight buffers of the pool are reserved for it: paper 002's rule
of four requests and four replies. So no message finds the pool empty while the application receives.
"""

from __future__ import annotations

import struct

from firmware.layers import ClusterView
from firmware.verbs import Host
from pymodels.nics.fifo.registers import Form, Ready, Region, Size, State, descriptor
from pymodels.trace import TraceEvent

EACH = 8
"""Send buffers of a partner, and buffers of the pool that stand for it."""
HEADER = struct.Struct(">HBBHH")
"""Type, source, number, destination, bytes."""
TYPE = 0x0F1F
MOST = Size.BUFFER - HEADER.size - 8 * 2
"""Bytes of a message: two words are for the route."""
ALIGN = 8
MASK = 0xFF


class Buffers:
    """`start`, `send`, `receive`. One task may send and one may receive at the same time."""

    def __init__(self, host: Host, view: ClusterView) -> None:
        self.host, self.view = host, view
        self.partners = sorted(vnn for vnn in view.routes if vnn != view.me)
        self.pool = EACH * len(self.partners)
        """Buffers of the receive pool."""
        self.damaged = 0
        """Packets that came with a wrong CRC-8, or too long: lost."""
        self._number = self._sends = 0
        self._turn = dict.fromkeys(self.partners, 0)
        self._used: set[int] = set()

    async def start(self) -> None:
        """Choose the card's form, and fill the pool. Call this first."""
        await self._write(Region.MODE, Form.BUFFERS)
        for number in range(1 + self.pool, 1 + 2 * self.pool):
            await self._write(Region.RX_FREE, number)

    async def send(self, destination: int, payload: bytes) -> None:
        """Send a message; waits until one of the partner's buffers is free. ValueError names a bad argument."""
        if destination not in self._turn or len(payload) > MOST:
            raise ValueError(f"destination {destination} (of {self.partners}) or payload ({len(payload)} of {MOST} B)")
        self._sends += 1
        send = self._sends
        self.host.trace(TraceEvent.SEND_CALL, 0, len(payload), send)
        number = await self._buffer(destination)
        route = self.view.routes[destination]
        skip = -len(route) % ALIGN
        self._number = self._number + 1 & MASK
        header = HEADER.pack(TYPE, self.view.me, self._number, destination, len(payload))
        key = int.from_bytes(header[:4], "big")
        packet = bytes(skip) + route + header + payload
        await self.host.spend("fill")
        await self.host.spend("store_word", -(-len(payload) // 4))
        await self._store(Size.BUFFER * number, packet + bytes(-len(packet) % 4))
        self.host.trace(TraceEvent.PAYLOAD_WRITTEN, key, len(header) + len(payload), send)
        await self._write(Size.DESCRIPTOR * number, descriptor(State.READY, len(packet) - skip, skip))
        await self._write(Region.TX_READY, number)
        self.host.trace(TraceEvent.POINTER_WRITTEN, key, number)

    async def receive(self) -> tuple[int, bytes]:
        """Wait for the next message: (source node, payload)."""
        while True:
            ready = self.host.nic_base + Region.RX_READY
            word = await self.host.poll_card(ready, 0, "look_ready", 1 << Ready.VALID)
            number, harm = word >> Ready.NUMBER & Size.BUFFERS - 1, word >> Ready.LONG & 3
            if not harm:
                self.host.trace(TraceEvent.POLL_HIT)
            message = await self._take(Size.BUFFER * number)
            await self._write(Region.RX_NEXT, 0)
            await self._write(Region.RX_FREE, number)
            if not harm:
                self.host.trace(TraceEvent.HANDLER_START, 0, 0, message[0])
                return message
            self.damaged += 1

    async def arrived(self) -> int:
        """Packets that have arrived and were not received."""
        return await self.host.pio_read(self.host.nic_base + Region.STATUS) >> 16

    async def _buffer(self, destination: int) -> int:
        """The next buffer of a partner, once what was in it is sent."""
        turn = self._turn[destination]
        self._turn[destination] = (turn + 1) % EACH
        number = 1 + EACH * self.partners.index(destination) + turn
        while number in self._used:
            word = await self.host.pio_read(self.host.nic_base + Size.DESCRIPTOR * number)
            await self.host.spend("look_descriptor")
            if word >> 28 == State.SENT:
                break
        self._used.add(number)
        return number

    async def _take(self, place: int) -> tuple[int, bytes]:
        """Read the message in a buffer, word by word."""
        first, second = [await self.host.pio_read(self.host.nic_base + place + at) for at in (0, 4)]
        await self.host.spend("take")
        _, source, _, _, size = HEADER.unpack(struct.pack(">II", first, second))
        count = -(-min(size, MOST) // 4)
        begin = self.host.nic_base + place + HEADER.size
        words = [await self.host.pio_read(begin + 4 * index) for index in range(count)]
        await self.host.spend("load_word", count)
        return source, struct.pack(f">{count}I", *words)[:size]

    async def _write(self, place: int, word: int) -> None:
        await self._store(place, word.to_bytes(4, "big"))

    async def _store(self, place: int, data: bytes) -> None:
        await self.host.pio_write(self.host.nic_base + place, data)
