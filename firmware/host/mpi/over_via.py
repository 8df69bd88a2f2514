"""MPI on VIA: a reliable connection to each other rank, and one completion queue for what all of them bring.

A message is cut into parts, each a VIA message: a header of six words, then data. Data are copied into a registered
buffer and out of one. A connection breaks when a message finds no posted receive; so a sender has as many credits as
its peer has posted receives for it. The peer gives them back with its own parts, or in a part of their own. For these,
which take no credit, some receives more are posted: each gives back half of all credits at least, so no more than two
are on their way.
"""

from __future__ import annotations

import struct
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from firmware.host.mpi.copying import Copier
from firmware.host.mpi.options import Options
from firmware.host.mpi.transport import Arrival, Port, Words
from firmware.verbs import Host
from pymodels.formats.via import ALIGNMENT, Reliability, Status

HEADER = struct.Struct(">iiiiIHH")
"""The message's words, its bytes, the part's number, credits."""
ONLY_CREDITS = 0xFFFF
"""In the place of a part's number."""
CREDITS, BEYOND, SENDS = 8, 2, 4
"""Receives for parts of a peer, further ones for parts that only give credits back, buffers for sends."""
MOST = 4096
"""Data bytes of a part."""
CONNECT_US = 900_000.0
"""Patience with ranks that start later."""


@dataclass(frozen=True)
class Place:
    """A registered buffer, and its descriptor."""

    va: int
    handle: int
    descriptor: Any


class Peer:
    """The connection with one rank."""

    def __init__(self, rank: int, vi: Any, places: Sequence[Place]) -> None:
        self.rank, self.vi = rank, vi
        self.posted = deque(places[SENDS:])
        """Receives, the oldest first."""
        self.free = deque(places[:SENDS])
        """For sends."""
        self.sent: deque[Place] = deque()
        self.credits, self.owed = CREDITS, 0
        self.arrival: Arrival | None = None
        """The message whose parts come."""
        self.left = 0
        """Its bytes that have not come."""


class OverVia:
    """A `Transport`."""

    def __init__(self, host: Host, rank: int, size: int, via: Any, _: Options) -> None:
        self._rank, self._size, self._via = rank, size, via
        self._host, self._copier = host, Copier(host)
        self._port: Port | None = None
        self._nic: Any = None
        self._queue: Any = None
        self._most = MOST
        self._peers: dict[int, Peer] = {}
        self._of_vi: dict[int, Peer] = {}

    async def start(self, port: Port) -> None:
        """Load the driver, open the NIC, and connect with all ranks: the two of each pair ask for each other."""
        self._port = port
        await self._via.start()
        self._nic = await self._via.open()
        self._most = min(MOST, (self._nic.options.transfer - HEADER.size) // 8 * 8)
        tag, others = self._nic.create_ptag(), [rank for rank in range(self._size) if rank != self._rank]
        self._queue = await self._nic.create_cq(max(len(others), 1) * (CREDITS + BEYOND))
        for rank in others:
            vi = await self._nic.create_vi(tag, Reliability.DELIVERY, receive_cq=self._queue)
            peer = self._peers[rank] = self._of_vi[vi.number] = Peer(rank, vi, await self._places(tag))
            for place in peer.posted:
                await self._post(peer, place)
            pair = min(rank, self._rank) * self._size + max(rank, self._rank)
            await vi.connect_peer_request(rank, pair, CONNECT_US)
        for peer in self._peers.values():
            await peer.vi.connect_peer_wait()

    async def _places(self, tag: int) -> list[Place]:
        """Buffers of a peer, in one region of registered memory; a descriptor stands behind each."""
        process, room = self._nic.process, -(-(HEADER.size + self._most) // ALIGNMENT) * ALIGNMENT
        stride, count = room + ALIGNMENT, CREDITS + BEYOND + SENDS
        base = process.allocate(stride * count)
        handle = await self._nic.register_memory(base, stride * count, tag)
        begins = range(base, base + stride * count, stride)
        return [Place(va, handle, self._nic.descriptor(va + room, handle)) for va in begins]

    async def _post(self, peer: Peer, place: Place) -> None:
        """Post a receive."""
        await peer.vi.post_receive(place.descriptor.receive([(place.va, place.handle, HEADER.size + self._most)]))

    # ---- out

    async def send(self, rank: int, words: Words, data: bytes | memoryview) -> None:
        """Cut it, and send the parts as credits allow."""
        peer, size = self._peers[rank], len(data)
        for number in range(max(-(-size // self._most), 1)):
            lacks = f"a posted receive of rank {rank}"
            if not peer.credits:
                self._host.waits.want(self._host.who, lacks)
                await self.wait(lambda: peer.credits > 0)
                self._host.waits.got(self._host.who, lacks)
            peer.credits -= 1
            begin = number * self._most
            await self._send(peer, words, size, number, data[begin : begin + self._most])

    async def _send(self, peer: Peer, words: Words, size: int, number: int, data: bytes | memoryview) -> None:
        """One part, with all credits that the peer has lent."""
        await self._host.spend("mpi_part")
        if not peer.free:
            peer.free.append(await self._sent(peer))
        place, process = peer.free.popleft(), self._nic.process
        back, peer.owed = peer.owed, 0
        copied = await self._copier.copy(data)
        process.store_bytes(place.va, HEADER.pack(*words, size, number, back) + copied)
        await peer.vi.post_send(place.descriptor.send([(place.va, place.handle, HEADER.size + len(data))]))
        peer.sent.append(place)

    async def _sent(self, peer: Peer) -> Place:
        """The oldest send's buffer, when the send is done."""
        done = await peer.vi.poll_send()
        self._good(peer, done)
        return peer.sent.popleft()

    @staticmethod
    def _good(peer: Peer, done: Any) -> None:
        if done.status & Status.ERRORS:
            raise ConnectionError(f"the connection with rank {peer.rank}: {done.status!r}")

    # ---- in

    async def poll(self) -> None:
        """Take in all that is here."""
        while self._peers and (found := await self._queue.done()) is not None:
            await self._take(*found)

    async def wait(self, condition: Callable[[], bool]) -> None:
        """Take in one part after the other until the condition holds."""
        while not condition():
            await self._take(*await self._queue.poll())

    async def finish(self) -> None:
        """The NIC sees to it."""

    async def _take(self, vi: Any, _: bool) -> None:
        """A part that has come to a VI; its buffer is posted again, and credits go back when half are due."""
        peer = self._of_vi[vi.number]
        self._good(peer, await vi.receive_done())
        await self._host.spend("mpi_take_part")
        place = peer.posted.popleft()
        load = self._nic.process.load_bytes
        *words, size, number, back = HEADER.unpack(load(place.va, HEADER.size))
        peer.credits += back
        if number != ONLY_CREDITS:
            begin = number * self._most
            data = load(place.va + HEADER.size, min(self._most, size - begin))
            await self._arrive(peer, (words[0], words[1], words[2], words[3]), size, begin, data)
            peer.owed += 1
        await self._post(peer, place)
        peer.posted.append(place)
        if peer.owed >= CREDITS // 2:
            await self._send(peer, (0, 0, 0, 0), 0, ONLY_CREDITS, b"")

    async def _arrive(self, peer: Peer, words: Words, size: int, begin: int, data: bytes) -> None:
        """A part of a message, of whose parts none overtakes another."""
        assert self._port is not None
        if not begin:
            peer.arrival, peer.left = await self._port.begin(peer.rank, words, size), size
        assert peer.arrival is not None
        if data:
            await peer.arrival.put(begin, data)
        peer.left -= len(data)
        if not peer.left:
            await peer.arrival.end()
