"""Driver of the FIFO card with buffers: packets are written and read in place, in the card's memory.

Each partner has eight send buffers, used in turn, and eight receive buffers of the pool are reserved for it. This is
the rule of four requests and four replies of paper 002, so the pool never runs empty while the application receives.
"""

from __future__ import annotations

import struct

from firmware.nics.fifo.buffers import DAMAGED, BufferPort, message_place, received_at
from firmware.verbs import Host
from firmware.view import ClusterView
from pymodels.nics.fifo.registers import Size
from pymodels.trace import TraceEvent

EACH = 8
"""Send buffers of a partner, and receive buffers of the pool reserved for it."""
HEADER = struct.Struct(">HBBHH")
"""Type, source, number, destination and payload bytes of a packet."""
TYPE = 0x0F1F
MOST = Size.BUFFER - HEADER.size - 8 * 2
"""Largest message in bytes; two words of a buffer are for the route."""
MASK = 0xFF


class Buffers:
    """Driver of one host (buffers). One task may send and one may receive concurrently."""

    def __init__(self, host: Host, view: ClusterView) -> None:
        self.host, self.view = host, view
        self.partners = sorted(vnn for vnn in view.routes if vnn != view.me)
        self.pool = EACH * len(self.partners)
        """Number of buffers of the receive pool."""
        self._port = BufferPort(host, lambda offset: host.nic_base + offset)
        self.damaged = 0
        """Number of packets lost because of a wrong CRC-8 or an excessive size."""
        self._number = 0
        self._turn = dict.fromkeys(self.partners, 0)
        self._used: set[int] = set()

    async def start(self) -> None:
        """Select the card's form and fill the pool. Call first."""
        await self._port.start(range(1 + self.pool, 1 + 2 * self.pool))

    async def arrived(self) -> int:
        """Return the number of packets that have arrived and are not yet received."""
        return await self._port.arrived()

    async def send(self, destination: int, payload: bytes) -> None:
        """Send a message, after waiting for a free buffer of the partner.

        Args:
            destination: VNN of another node.
            payload: up to `MOST` bytes.

        Raises:
            ValueError: an invalid destination or size.
        """
        if destination not in self._turn or len(payload) > MOST:
            raise ValueError(f"destination {destination} (of {self.partners}) or payload ({len(payload)} of {MOST} B)")
        message = self.host.message()
        self.host.trace(TraceEvent.SEND_CALL, 0, len(payload), message=message)
        number = await self._buffer(destination)
        self._number = self._number + 1 & MASK
        header = HEADER.pack(TYPE, self.view.me, self._number, destination, len(payload))
        key = int.from_bytes(header[:4], "big")
        await self.host.spend("fill")
        word = await self._port.fill(number, self.view.routes[destination], header, payload)
        self.host.trace(TraceEvent.PAYLOAD_WRITTEN, key, len(header) + len(payload), message=message)
        place = message_place(self.view.routes[destination], number)
        self.host.put_message(self.host.nic_base + place, message)
        await self._port.send(number, word)
        self.host.trace(TraceEvent.POINTER_WRITTEN, key, number, message=message)

    async def receive(self) -> tuple[int, bytes]:
        """Wait for the next message. Return source node and payload."""
        while True:
            word = await self._port.ready()
            if word is None:
                continue
            number = self.host.message_at(self.host.nic_base + received_at(word))
            if not word & DAMAGED:
                self.host.trace(TraceEvent.POLL_HIT, message=number)
            message = await self._take(word)
            await self._port.done(word)
            if not word & DAMAGED:
                self.host.trace(TraceEvent.HANDLER_START, 0, 0, message[0], message=number)
                return message
            self.damaged += 1

    async def _buffer(self, destination: int) -> int:
        """Return the partner's next send buffer, after waiting until it has been sent."""
        turn = self._turn[destination]
        self._turn[destination] = (turn + 1) % EACH
        number = 1 + EACH * self.partners.index(destination) + turn
        while number in self._used and not await self._port.sent(number):
            pass
        self._used.add(number)
        return number

    async def _take(self, word: int) -> tuple[int, bytes]:
        """Read the received message from the card."""
        head = await self._port.words(word, 0, HEADER.size // 4)
        await self.host.spend("take")
        _, source, _, _, size = HEADER.unpack(head)
        return source, await self._port.load(word, HEADER.size, min(size, MOST))
