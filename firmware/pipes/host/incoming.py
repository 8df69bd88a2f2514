"""The stream from one node: packets in any order, or twice, become bytes in order, each once."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from firmware.hal.host.interface import Packet
from firmware.pipes.host.header import DIRECT, LAYOUT, Header, near
from firmware.pipes.host.ring import Ring
from firmware.verbs import Host

Consumer = Callable[[int, memoryview], Awaitable[None]]
"""Takes bytes of a node's stream, the next ones each time. It may not write, poll or wait."""


class Incoming:
    """One stream. Without a consumer its bytes stay until they are read."""

    def __init__(self, host: Host, node: int, pipe_bytes: int, begin: int) -> None:
        """`begin`: the position of the first byte."""
        self._host, self._node, self._ring = host, node, Ring(host, pipe_bytes)
        self.come = self.taken = self.told = begin
        """All before is here; all before is read; the room that the sender was told ends a pipe behind it."""
        self._ahead: dict[int, int] = {}
        """What is here behind a gap: the position behind it, by its own."""
        self.owed = 0
        """Packets that are not acknowledged."""
        self.owed_since = 0
        """Since when, ps."""
        self.doubled = 0
        """Packets that came once more."""

    @property
    def room(self) -> int:
        """Bytes before this position may come."""
        return self.taken + self._ring.size

    @property
    def here(self) -> int:
        """Bytes that can be read."""
        return self.come - self.taken

    async def arrived(self, header: Header, packet: Packet, consumer: Consumer | None) -> bool:
        """A packet with data; whether an acknowledgement is due at once: a gap is closed, or it was here already."""
        data = packet.view[LAYOUT.size :]
        position = near(header.position, self.come)
        end = position + len(data)
        if not self.owed:
            self.owed_since = self._host.now
        self.owed += 1
        if position < self.come or position in self._ahead:
            self.doubled += 1
            return True
        if end > self.room:  # no such room was announced
            return False
        if position > self.come:
            await self._host.spend("pipes_ahead")
            self._ahead[position] = end
            await self._ring.put(position, data)
            return False
        await self._next(header, data, consumer)
        return await self._close(consumer)

    async def _next(self, header: Header, data: memoryview, consumer: Consumer | None) -> None:
        """The bytes that were waited for."""
        if consumer is not None and header.flags & DIRECT:
            self.come = self.taken = self.come + len(data)
            await consumer(self._node, data)
        else:
            await self._ring.put(self.come, data)
            await self._come(self.come + len(data), consumer)

    async def _close(self, consumer: Consumer | None) -> bool:
        """Further bytes that are here already; whether there are."""
        before = self.come
        while (end := self._ahead.pop(self.come, None)) is not None:
            await self._come(end, consumer)
        return self.come != before

    async def _come(self, end: int, consumer: Consumer | None) -> None:
        """Everything before is in the pipe."""
        begin, self.come = self.come, end
        if consumer is not None:
            self.taken = end
            for view in self._ring.views(begin, end - begin):
                await consumer(self._node, view)

    async def read(self, size: int) -> bytes:
        """Take bytes that are here."""
        await self._host.spend("pipes_read")
        data = await self._ring.get(self.taken, size)
        self.taken += size
        return data
