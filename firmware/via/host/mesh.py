"""Reliable connections to all other hosts, with receives posted ahead and one completion queue.

For layers over VIA whose hosts all exchange messages.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from firmware.via.formats import ALIGNMENT, Reliability, Status

SENDS = 4
"""Number of send buffers for each host."""
CONNECT_US = 900_000.0
"""Time limit of connecting, which covers hosts that start later."""


@dataclass(frozen=True)
class Place:
    """Registered buffer with its descriptor."""

    va: int
    handle: int
    descriptor: Any


class Peer:
    """Connection to one host."""

    def __init__(self, node: int, vi: Any, places: Sequence[Place]) -> None:
        self.node, self.vi = node, vi
        self._free, self._sent = deque(places[:SENDS]), deque[Place]()
        """Buffers for sends, and those whose sends are not known to be done."""
        self._posted = deque(places[SENDS:])
        """Posted receives, oldest first."""

    async def buffer(self) -> Place:
        """Return a send buffer, waiting for the oldest send if all are in use."""
        if not self._free:
            await self._done()
        return self._free.popleft()

    async def send(self, place: Place, size: int) -> None:
        """Post a send of the first `size` bytes of a buffer."""
        await self.vi.post_send(place.descriptor.send([(place.va, place.handle, size)]))
        self._sent.append(place)

    async def settle(self) -> None:
        """Wait until all sends are complete."""
        while self._sent:
            await self._done()

    async def received(self) -> tuple[Place, int]:
        """Return buffer and size of the oldest receive, which is complete. The caller posts the buffer again."""
        done = await self.vi.receive_done()
        self._good(done)
        return self._posted.popleft(), done.length

    async def post(self, place: Place, size: int) -> None:
        """Post a receive of up to `size` bytes."""
        await self._receive(place, size)
        self._posted.append(place)

    async def open(self, size: int) -> None:
        """Post all receives."""
        for place in self._posted:
            await self._receive(place, size)

    async def _receive(self, place: Place, size: int) -> None:
        await self.vi.post_receive(place.descriptor.receive([(place.va, place.handle, size)]))

    async def _done(self) -> None:
        """Wait for the oldest send, and free its buffer."""
        self._good(await self.vi.poll_send())
        self._free.append(self._sent.popleft())

    def _good(self, done: Any) -> None:
        if done.status & Status.ERRORS:
            raise ConnectionError(f"connection to node {self.node}: status {done.status!r}")


class Library(Protocol):
    """Interface of VIA that a mesh uses."""

    async def start(self) -> None:
        """Load the driver."""

    async def open(self) -> Any:
        """Open the NIC for a process, and return it."""


class Mesh:
    """Connections of one host to all others."""

    def __init__(self, via: Library) -> None:
        self._via = via
        self.nic: Any = None
        self.queue: Any = None
        """Completion queue of the receives of all connections."""
        self.peers: dict[int, Peer] = {}
        self._of_vi: dict[int, Peer] = {}

    async def open(self) -> None:
        """Load the driver and open the NIC."""
        await self._via.start()
        self.nic = await self._via.open()

    async def connect(self, me: int, nodes: int, receives: int, size: int) -> None:
        """Connect to all other hosts by peer requests.

        Args:
            me: Own node.
            nodes: Number of nodes.
            receives: Number of receives posted on each connection.
            size: Size of each receive in bytes.
        """
        tag, others = self.nic.create_ptag(), [node for node in range(nodes) if node != me]
        self.queue = await self.nic.create_cq(max(len(others), 1) * receives)
        for node in others:
            vi = await self.nic.create_vi(tag, Reliability.DELIVERY, receive_cq=self.queue)
            peer = Peer(node, vi, await self._places(tag, SENDS + receives, size))
            self.peers[node] = self._of_vi[vi.number] = peer
            await peer.open(size)
            await vi.connect_peer_request(node, min(me, node) << 16 | max(me, node), CONNECT_US)
        for peer in self.peers.values():
            await peer.vi.connect_peer_wait()

    def peer(self, vi: Any) -> Peer:
        """Return the connection of a VI."""
        return self._of_vi[vi.number]

    async def _places(self, tag: int, count: int, size: int) -> list[Place]:
        """Return buffers in one region of registered memory, each followed by its descriptor."""
        room = -(-size // ALIGNMENT) * ALIGNMENT
        stride = room + ALIGNMENT
        base = self.nic.process.allocate(stride * count)
        handle = await self.nic.register_memory(base, stride * count, tag)
        begins = range(base, base + stride * count, stride)
        return [Place(va, handle, self.nic.descriptor(va + room, handle)) for va in begins]
