"""Bulk transfers between two nodes: PUT and GET of AM, and stores split into messages."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from firmware.am.host import MemoryRange, Port
from firmware.am.host.remote import pieces
from firmware.split_c.host.heap import Heap
from firmware.split_c.host.pointers import Global

NO_FLAG = 0
"""Flag address of a transfer without a flag; `sync` waits for the replies instead."""


class Bulk:
    """Bulk transfers of one node. Sizes are in bytes; one of the two pointers of a call is to this node's heap."""

    def __init__(self, heap: Heap, port: Port, bases: Mapping[int, int], stored: Callable[..., Any]) -> None:
        """Prepare bulk transfers; `stored` is the handler of a store."""
        self._heap, self._port, self._bases, self._handler = heap, port, bases, stored

    async def get(self, to: Global, source: Global, size: int) -> None:
        """Fetch bytes from another node."""
        await self._port.get(source.node, self._bases[source.node] + source.at, self._heap.base + to.at, size, NO_FLAG)

    async def put(self, to: Global, source: Global, size: int) -> None:
        """Write bytes to another node, whose handler replies."""
        await self._port.put(to.node, self._bases[to.node] + to.at, self._heap.base + source.at, size, NO_FLAG)

    async def store(self, to: Global, source: Global, size: int) -> None:
        """Store bytes at another node, which counts them."""
        for at, part in pieces(size):
            data = MemoryRange(self._heap.base + source.at + at, part)
            await self._port.request(to.node, self._handler, to.at + at, data=data)
