"""Stream from one node: reassembles packets that may be reordered or duplicated."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from firmware.hal.host.interface import Packet
from firmware.pipes.host.header import DIRECT, LAYOUT, Header, near
from firmware.pipes.host.ring import Ring
from firmware.verbs import Host

Consumer = Callable[[int, memoryview], Awaitable[None]]
"""Function that takes the next bytes of a node's stream. It may not write, poll or wait."""


class Incoming:
    """Receive side of one stream. Without a consumer its bytes stay in the pipe until they are read."""

    def __init__(self, host: Host, node: int, pipe_bytes: int, begin: int) -> None:
        """Create the stream; `begin` is the position of its first byte."""
        self._host, self._node, self._ring = host, node, Ring(host, pipe_bytes)
        self.come = self.taken = self.told = begin
        """Ends of the contiguous bytes received, of the bytes read, and of the bytes read at the last announcement."""
        self._ahead: dict[int, int] = {}
        """Ranges received behind a gap: end position by start position."""
        self.owed = 0
        """Number of unacknowledged packets."""
        self.owed_since = 0
        """Arrival of the first unacknowledged packet, ps."""
        self.doubled = 0
        """Number of duplicate packets."""

    @property
    def room(self) -> int:
        """Position before which bytes may arrive."""
        return self.taken + self._ring.size

    @property
    def here(self) -> int:
        """Number of bytes that can be read."""
        return self.come - self.taken

    async def arrived(self, header: Header, packet: Packet, consumer: Consumer | None) -> bool:
        """Process a data packet. Return True if an acknowledgement is due at once (a closed gap or a duplicate)."""
        data = packet.view[LAYOUT.size :]
        position = near(header.position, self.come)
        end = position + len(data)
        if not self.owed:
            self.owed_since = self._host.now
        self.owed += 1
        if position < self.come or position in self._ahead:
            self.doubled += 1
            return True
        if end > self.room:  # beyond the announced room
            return False
        if position > self.come:
            await self._host.spend("pipes_ahead")
            self._ahead[position] = end
            await self._ring.put(position, data)
            return False
        await self._next(header, data, consumer)
        return await self._close(consumer)

    async def _next(self, header: Header, data: memoryview, consumer: Consumer | None) -> None:
        """Append the next bytes of the stream."""
        if consumer is not None and header.flags & DIRECT:
            self.come = self.taken = self.come + len(data)
            await consumer(self._node, data)
        else:
            await self._ring.put(self.come, data)
            await self._come(self.come + len(data), consumer)

    async def _close(self, consumer: Consumer | None) -> bool:
        """Append ranges that were received behind the gap. Return True if there were any."""
        before = self.come
        while (end := self._ahead.pop(self.come, None)) is not None:
            await self._come(end, consumer)
        return self.come != before

    async def _come(self, end: int, consumer: Consumer | None) -> None:
        """Advance the end of the contiguous bytes and pass them to the consumer."""
        begin, self.come = self.come, end
        if consumer is not None:
            self.taken = end
            for view in self._ring.views(begin, end - begin):
                await consumer(self._node, view)

    async def read(self, size: int) -> bytes:
        """Return received bytes and remove them from the pipe."""
        await self._host.spend("pipes_read")
        data = await self._ring.get(self.taken, size)
        self.taken += size
        return data
