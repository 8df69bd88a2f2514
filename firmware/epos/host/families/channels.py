"""The family Channel: what becomes of bytes on their way.

A Datagram keeps boundaries, and may be lost; a Stream is bytes in order, and needs a composition that loses nothing.
"""

from __future__ import annotations

from collections import deque
from typing import Any, ClassVar

from firmware.epos.host.errors import EposError


class Channel:
    """Of one communicator."""

    needs: ClassVar[tuple[str, ...]] = ()
    """Protocols without which it cannot be."""

    def __init__(self, member: Any) -> None:
        self.member = member
        self.most: int = member.network.epos.options.slot_bytes - member.header
        """Bytes of a message."""


class Datagram(Channel):
    """A message is a message."""

    async def put(self, node: int, data: bytes) -> None:
        """Send it. Raises EposError for one that is too long."""
        if len(data) > self.most:
            what = f"{self.member.network.epos.host.who}: a datagram of {len(data)} bytes"
            header = f", less {self.member.header} of the header" if self.member.header else ""
            slot = self.member.network.epos.options.slot_bytes
            raise EposError(what, f"a message has at most {slot}{header}", "cut it, or take a Stream")
        await self.member.carry(node, data)

    async def get(self) -> tuple[int, int, bytes]:
        """The next one: its node, the number of its sender, its bytes."""
        taken: tuple[int, int, bytes] = await self.member.take()
        return taken


class Stream(Channel):
    """Bytes in order, of each node."""

    needs = ("flow", "reliability")

    def __init__(self, member: Any) -> None:
        super().__init__(member)
        self._came: dict[int, deque[bytes]] = {}

    async def put(self, node: int, data: bytes) -> None:
        """Send bytes, cut into messages."""
        for at in range(0, len(data), self.most):
            await self.member.network.epos.host.spend("epos_stream_part")
            await self.member.carry(node, data[at : at + self.most])

    async def get(self, node: int, most: int) -> bytes:
        """The next bytes of a node, as many as there are, at most so many; waits for one at least."""
        host, there = self.member.network.epos.host, self._came.setdefault(node, deque())
        if most < 1:
            raise EposError(f"{host.who}: a read of {most} bytes", "it would never end", "ask for one or more")
        while not there:
            source, _, data = await self.member.take()
            if data:
                self._came.setdefault(source, deque()).append(data)
        await host.spend("epos_stream_read")
        data = there.popleft()
        if len(data) > most:
            there.appendleft(data[most:])
        return data[:most]
