"""The stream to one node: bytes become packets, which are sent until they are acknowledged."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from firmware.hal.host.interface import Hal
from firmware.pipes.host.header import ASKS, DATA, DIRECT, PROTOCOL, Header
from firmware.pipes.host.ring import Ring
from firmware.pipes.options import Options
from firmware.verbs import Host

NOT_KEPT = -1
MOST_PATIENCE = 64
"""Time-outs (ours)."""
Stamp = Callable[[int, int], Header]
"""A header of flags and position, with what has come of the stream back."""


@dataclass
class Sent:
    """A packet that is not acknowledged."""

    position: int
    size: int
    buffer: int
    """HAL's send buffer that is kept for it, or `NOT_KEPT`: its bytes stand in the pipe."""
    at: int
    """When it was sent last, ps."""


class Outgoing:
    """One stream."""

    def __init__(self, host: Host, hal: Hal, node: int, options: Options, begin: int, stamp: Stamp) -> None:
        """`begin`: the position of the first byte."""
        self._host, self._hal, self._node, self._stamp = host, hal, node, stamp
        self._ring = Ring(host, options.pipe_bytes)
        self._window, self._timeout = options.window, options.timeout_us * 1_000_000
        self.written = self.sent = self.come = begin
        """All before is the application's, is sent, is acknowledged."""
        self.room = begin + options.pipe_bytes
        """The other end has room for what is before."""
        self._patience = 1
        """So many time-outs are waited for an answer: twice as many each time that none has come."""
        self._packets: deque[Sent] = deque()
        self._told = begin
        """The other end has all before."""
        self.heard = 0
        """When it was heard or asked last, ps."""
        self.resent = 0
        """Packets sent again."""
        self.writing = False
        """A task writes."""
        self.stuck = False
        """Bytes wait in front of the pipe until they may be sent."""
        self._pumping = False

    @property
    def free(self) -> int:
        """Bytes that may be written."""
        return self._ring.size - (self.written - self.come)

    @property
    def may_send(self) -> bool:
        """Whether window and the other end have room for a packet."""
        return len(self._packets) < self._window and self.sent < self.room

    @property
    def due(self) -> int | None:
        """When the other end has to be reminded, if it has not answered by then, ps."""
        patience = self._timeout * self._patience
        if self._packets:
            return self._packets[0].at + patience
        return self.heard + patience if self.stuck or self.written > self.sent else None

    async def put(self, data: bytes | memoryview) -> None:
        """Into the pipe, which has room."""
        await self._ring.put(self.written, data)
        self.written += len(data)

    async def pump(self) -> None:
        """Send what is in the pipe, as far as it may be sent."""
        if self._pumping:
            return
        self._pumping = True
        try:
            while self.sent < self.written and self.may_send:
                at = self._ring.part(self.sent, min(DATA, self.written - self.sent, self.room - self.sent))
                packet = Sent(self.sent, at.size, NOT_KEPT, self._host.now)
                self._packets.append(packet)
                self.sent += at.size
                await self._host.spend("pipes_send")
                await self._hal.send(self._node, PROTOCOL, self._header(packet), at)
                packet.at = self._host.now
        finally:
            self._pumping = False

    async def send_direct(self, data: memoryview) -> int:
        """Send the first bytes as one packet, which HAL keeps; how many. Nothing in the pipe waits to be sent."""
        packet = Sent(self.sent, min(DATA, len(data), self.room - self.sent), 0, self._host.now)
        await self._host.spend("pipes_send")
        header = self._stamp(DIRECT, packet.position).packed()
        self.sent += packet.size
        self.written = self.sent
        packet.buffer = await self._hal.send(self._node, PROTOCOL, header, data[: packet.size], keep=True)
        packet.at = self._host.now
        self._packets.append(packet)
        self._forget()
        return packet.size

    def _header(self, packet: Sent) -> bytes:
        return self._stamp(0 if packet.buffer == NOT_KEPT else DIRECT, packet.position).packed()

    def answered(self, come: int, room: int) -> int:
        """The other end has everything before `come`, and room until `room`; how many packets that are."""
        self.heard, self._patience = self._host.now, 1
        self.room, self._told = max(self.room, room), max(self._told, come)
        return self._forget()

    def _forget(self) -> int:
        """Packets that are acknowledged; how many."""
        count = 0
        while self._packets and self._packets[0].position + self._packets[0].size <= self._told:
            packet = self._packets.popleft()
            self.come = packet.position + packet.size
            if packet.buffer != NOT_KEPT:
                self._hal.free(packet.buffer)
            count += 1
        return count

    async def ask(self) -> None:
        """Have the other end say what has come, and how much room it has."""
        self.heard = self._host.now
        await self._host.spend("pipes_answer")
        await self._hal.send(self._node, PROTOCOL, self._stamp(ASKS, self.sent).packed())

    async def remind(self) -> None:
        """It is due: send the oldest packet again, or ask whether there is room now. A node that computes is not sent
        one after the other: they would fill its receive buffers.
        """
        self._patience = min(2 * self._patience, MOST_PATIENCE)
        if not self._packets:
            await self.ask()
            return
        packet = self._packets[0]
        packet.at = self._host.now
        await self._host.spend("pipes_again")
        if packet not in self._packets:  # it has been acknowledged meanwhile
            return
        self.resent += 1
        if packet.buffer == NOT_KEPT:
            at = self._ring.part(packet.position, packet.size)
            await self._hal.send(self._node, PROTOCOL, self._header(packet), at)
        else:
            await self._hal.again(packet.buffer, self._header(packet))
