"""A reliable connection with each other host, receives posted ahead, and one completion queue for all, as a layer needs
them that sends messages to everybody over VIA.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from firmware.via.formats import ALIGNMENT, Reliability, Status

SENDS = 4
"""Buffers for messages to each host."""
CONNECT_US = 900_000.0
"""Patience with hosts that start later."""


@dataclass(frozen=True)
class Place:
    """A registered buffer, and its descriptor."""

    va: int
    handle: int
    descriptor: Any


class Peer:
    """The connection with one host."""

    def __init__(self, node: int, vi: Any, places: Sequence[Place]) -> None:
        self.node, self.vi = node, vi
        self._free, self._sent = deque(places[:SENDS]), deque[Place]()
        """Buffers for sends, and those whose sends are not known to be done."""
        self._posted = deque(places[SENDS:])
        """Receives, the oldest first."""

    async def buffer(self) -> Place:
        """A buffer for a send; waits for the oldest send when all are in use."""
        if not self._free:
            await self._done()
        return self._free.popleft()

    async def send(self, place: Place, size: int) -> None:
        """Post a send of the first bytes of a buffer."""
        await self.vi.post_send(place.descriptor.send([(place.va, place.handle, size)]))
        self._sent.append(place)

    async def settle(self) -> None:
        """Until all sends are done."""
        while self._sent:
            await self._done()

    async def received(self) -> tuple[Place, int]:
        """The oldest receive, which is done: its buffer, and its bytes. The caller posts it again."""
        done = await self.vi.receive_done()
        self._good(done)
        return self._posted.popleft(), done.length

    async def post(self, place: Place, size: int) -> None:
        """Post a receive of so many bytes again."""
        await self._receive(place, size)
        self._posted.append(place)

    async def open(self, size: int) -> None:
        """Post all receives."""
        for place in self._posted:
            await self._receive(place, size)

    async def _receive(self, place: Place, size: int) -> None:
        await self.vi.post_receive(place.descriptor.receive([(place.va, place.handle, size)]))

    async def _done(self) -> None:
        """The oldest send is done: its buffer is free."""
        self._good(await self.vi.poll_send())
        self._free.append(self._sent.popleft())

    def _good(self, done: Any) -> None:
        if done.status & Status.ERRORS:
            raise ConnectionError(f"the connection with node {self.node}: {done.status!r}")


class Library(Protocol):
    """What is needed of VIA."""

    async def start(self) -> None:
        """Load the driver."""

    async def open(self) -> Any:
        """The NIC, opened for a process."""


class Mesh:
    """Of one host."""

    def __init__(self, via: Library) -> None:
        self._via = via
        self.nic: Any = None
        self.queue: Any = None
        """Receives of all connections."""
        self.peers: dict[int, Peer] = {}
        self._of_vi: dict[int, Peer] = {}

    async def open(self) -> None:
        """Load the driver, and open the NIC."""
        await self._via.start()
        self.nic = await self._via.open()

    async def connect(self, me: int, nodes: int, receives: int, size: int) -> None:
        """Connect with all hosts: so many receives of so many bytes each. The two of a pair ask for each other."""
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
        """Whose VI it is."""
        return self._of_vi[vi.number]

    async def _places(self, tag: int, count: int, size: int) -> list[Place]:
        """Buffers in one region of registered memory; a descriptor stands behind each."""
        room = -(-size // ALIGNMENT) * ALIGNMENT
        stride = room + ALIGNMENT
        base = self.nic.process.allocate(stride * count)
        handle = await self.nic.register_memory(base, stride * count, tag)
        begins = range(base, base + stride * count, stride)
        return [Place(va, handle, self.nic.descriptor(va + room, handle)) for va in begins]
