"""Family Channel: how a communicator's bytes are carried.

A Datagram keeps message boundaries, and may be lost. A Stream is a sequence of bytes, and needs a composition without
loss.
"""

from __future__ import annotations

from collections import deque
from typing import Any, ClassVar

from firmware.epos.host.errors import EposError


class Channel:
    """Channel of one communicator."""

    needs: ClassVar[tuple[str, ...]] = ()
    """Protocols that the channel requires."""

    def __init__(self, member: Any) -> None:
        self.member = member
        self.most: int = member.network.epos.options.slot_bytes - member.header
        """Maximum bytes of a message."""


class Datagram(Channel):
    """Channel that keeps message boundaries."""

    async def put(self, node: int, data: bytes) -> None:
        """Send a message. Raises EposError if it is too long."""
        if len(data) > self.most:
            what = f"{self.member.network.epos.host.who}: a datagram of {len(data)} bytes"
            header = f", less {self.member.header} of the header" if self.member.header else ""
            slot = self.member.network.epos.options.slot_bytes
            raise EposError(what, f"a message has at most {slot}{header}", "cut it, or use a Stream")
        await self.member.carry(node, data)

    async def get(self) -> tuple[int, int, bytes]:
        """Return node, sender's number and bytes of the next message."""
        taken: tuple[int, int, bytes] = await self.member.take()
        return taken


class Stream(Channel):
    """Channel that carries an ordered sequence of bytes from each node."""

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
        """Return the next bytes from a node, at least 1 and at most `most`. Raises EposError if `most` is below 1."""
        host, there = self.member.network.epos.host, self._came.setdefault(node, deque())
        if most < 1:
            raise EposError(f"{host.who}: a read of {most} bytes", "a read returns at least one byte", "give 1 or more")
        while not there:
            source, _, data = await self.member.take()
            if data:
                self._came.setdefault(source, deque()).append(data)
        await host.spend("epos_stream_read")
        data = there.popleft()
        if len(data) > most:
            there.appendleft(data[most:])
        return data[:most]
