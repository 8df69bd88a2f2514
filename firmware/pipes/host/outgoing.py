"""Stream to one node: splits bytes into packets and sends them until they are acknowledged."""

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
"""Longest wait for an acknowledgement, in time-outs (ours)."""
Stamp = Callable[[int, int], Header]
"""Function that returns a header with flags, position, and the acknowledgement of the reverse stream."""


@dataclass
class Sent:
    """Unacknowledged packet."""

    position: int
    size: int
    buffer: int
    """HAL's send buffer kept for the packet, or `NOT_KEPT` if its bytes are in the pipe."""
    at: int
    """Time of the last transmission, ps."""


class Outgoing:
    """Send side of one stream."""

    def __init__(self, host: Host, hal: Hal, node: int, options: Options, begin: int, stamp: Stamp) -> None:
        """Create the stream; `begin` is the position of its first byte."""
        self._host, self._hal, self._node, self._stamp = host, hal, node, stamp
        self._ring = Ring(host, options.pipe_bytes)
        self._window, self._timeout = options.window, options.timeout_us * 1_000_000
        self.written = self.sent = self.come = begin
        """Ends of the bytes written, sent, and acknowledged."""
        self.room = begin + options.pipe_bytes
        """Position before which the other end has room."""
        self._patience = 1
        """Wait for an acknowledgement in time-outs; doubles each time that none has arrived."""
        self._packets: deque[Sent] = deque()
        self._told = begin
        """Position before which the other end has everything."""
        self.heard = 0
        """Time of the last packet from the other end, or of the last request to it, ps."""
        self.resent = 0
        """Number of retransmissions."""
        self.writing = False
        """True while a task writes."""
        self.stuck = False
        """True while direct bytes wait for the window or for room at the other end."""
        self._pumping = False

    @property
    def free(self) -> int:
        """Number of bytes that may be written to the pipe."""
        return self._ring.size - (self.written - self.come)

    @property
    def may_send(self) -> bool:
        """True if window and other end have room for a packet."""
        return len(self._packets) < self._window and self.sent < self.room

    @property
    def due(self) -> int | None:
        """Time at which to remind the other end, ps; None if nothing is outstanding."""
        patience = self._timeout * self._patience
        if self._packets:
            return self._packets[0].at + patience
        return self.heard + patience if self.stuck or self.written > self.sent else None

    async def put(self, data: bytes | memoryview) -> None:
        """Copy bytes into the pipe, which must have room."""
        await self._ring.put(self.written, data)
        self.written += len(data)

    async def pump(self) -> None:
        """Send the bytes in the pipe as far as allowed."""
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
        """Send the first bytes in a packet kept by HAL. Return their number. The pipe must have no unsent bytes."""
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
        """Process an acknowledgement. Return the number of packets acknowledged.

        Args:
            come: position before which the other end has everything.
            room: position before which the other end has room.
        """
        self.heard, self._patience = self._host.now, 1
        self.room, self._told = max(self.room, room), max(self._told, come)
        return self._forget()

    def _forget(self) -> int:
        """Release acknowledged packets and return their number."""
        count = 0
        while self._packets and self._packets[0].position + self._packets[0].size <= self._told:
            packet = self._packets.popleft()
            self.come = packet.position + packet.size
            if packet.buffer != NOT_KEPT:
                self._hal.free(packet.buffer)
            count += 1
        return count

    async def request_ack(self) -> None:
        """Request an acknowledgement from the other end."""
        self.heard = self._host.now
        await self._host.spend("pipes_answer")
        await self._hal.send(self._node, PROTOCOL, self._stamp(ASKS, self.sent).packed())

    async def remind(self) -> None:
        """Retransmit the oldest packet, or request room.

        Only one packet is sent, so as not to fill the receive buffers of a node that computes.
        """
        self._patience = min(2 * self._patience, MOST_PATIENCE)
        if not self._packets:
            await self.request_ack()
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
