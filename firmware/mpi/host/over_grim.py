"""MPI over GRIM: each message is an active message whose four arguments are the header."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from firmware.grim.formats import MAX_SEND, reference
from firmware.mpi.host.transport import Port, Words
from firmware.mpi.options import Options
from firmware.verbs import Host

HANDLER = "mpi message"
PART = 0xFFFFFFFF
"""First argument of a message that carries a part of an MPI message other than the last."""


class OverGrim:
    """Transport over GRIM, which reassembles a long message's segments before it calls the handler."""

    def __init__(self, host: Host, rank: int, size: int, grim: Any, _: Options) -> None:
        self._rank, self._size, self._grim = rank, size, grim
        self._port: Port | None = None
        self._handler = 0
        self._most = MAX_SEND
        self._parts: dict[int, list[bytes]] = {}
        """Parts of an incomplete message, by sending rank."""

    async def start(self, port: Port) -> None:
        """Enable GRIM if necessary, and resolve the number of the common handler."""
        self._port, grim = port, self._grim
        grim.register_handler(self._arrived, HANDLER)
        if not grim.calls.enabling:
            await grim.grim_enable()
        await grim.sync_handlers()
        if not self._rank:
            await grim.wait_for(lambda: grim.nodes_served >= self._size - 1)
        self._handler = await grim.resolve_handler(HANDLER)

    async def send(self, rank: int, words: Words, data: bytes | memoryview) -> None:
        """Send a message by `grim_send`, in parts if necessary; parts arrive in order."""
        grim = self._grim
        while len(data) > self._most:
            await grim.send(grim.get_dest_id(rank), self._handler, PART, 0, 0, 0, payload=data[: self._most])
            data = data[self._most :]
        await grim.send(grim.get_dest_id(rank), self._handler, *words, payload=data)

    async def poll(self) -> None:
        """Process received messages (`grim_poll`)."""
        await self._grim.poll()

    async def wait(self, condition: Callable[[], bool]) -> None:
        """Poll until the condition holds."""
        await self._grim.wait_for(condition)

    async def finish(self) -> None:
        """Do nothing: the NIC delivers what was sent."""

    async def _arrived(self, source: int, a0: int, a1: int, a2: int, a3: int, payload: memoryview) -> None:
        """Handle an MPI message or a part of one."""
        assert self._port is not None
        rank = reference(source).vnn
        if a0 & PART == PART:
            self._parts.setdefault(rank, []).append(bytes(payload))
            return
        parts: list[bytes | memoryview] = [*self._parts.pop(rank, []), payload]
        arrival, at = await self._port.begin(rank, (a0, a1, a2, a3), sum(map(len, parts))), 0
        for part in parts:
            if len(part):
                await arrival.put(at, part)
            at += len(part)
        await arrival.end()
