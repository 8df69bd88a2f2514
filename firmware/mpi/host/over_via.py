"""MPI over VIA: a reliable connection to each other rank, and one completion queue for all of them.

A message is split into parts, each a VIA message: a header of six words, then data. Data are copied into a registered
buffer and out of one. A connection breaks when a message finds no posted receive, so a sender has as many credits as
its peer has posted receives for it. The peer returns them with its own parts, or in a part without data. Additional
receives are posted for these parts, which need no credit. Each returns at least half of all credits, so at most two are
in transit.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

from firmware.mpi.host.copying import Copier
from firmware.mpi.host.transport import Arrival, Port, Words
from firmware.mpi.options import Options
from firmware.verbs import Host

HEADER = struct.Struct(">iiiiIHH")
"""The message's words, its size, the part's number, credits."""
ONLY_CREDITS = 0xFFFF
"""Part number of a part that only returns credits."""
CREDITS, BEYOND = 8, 2
"""Receives for parts of a peer, and additional ones for parts that only return credits."""
MOST = 4096
"""Largest data size of a part in bytes."""


class Peer:
    """State of the connection with one rank."""

    def __init__(self, rank: int, connection: Any) -> None:
        self.rank, self.connection = rank, connection
        self.credits, self.owed = CREDITS, 0
        self.arrival: Arrival | None = None
        """Message whose parts are arriving."""
        self.left = 0
        """Missing bytes of that message."""


class OverVia:
    """Transport over VIA."""

    def __init__(self, host: Host, rank: int, size: int, via: Any, _: Options) -> None:
        self._rank, self._size, self._mesh = rank, size, via.mesh()
        self._host, self._copier = host, Copier(host)
        self._port: Port | None = None
        self._most = MOST
        self._peers: dict[int, Peer] = {}

    async def start(self, port: Port) -> None:
        """Start the driver, open the NIC, and connect to all ranks."""
        self._port = port
        await self._mesh.open()
        self._most = min(MOST, (self._mesh.nic.options.transfer - HEADER.size) // 8 * 8)
        await self._mesh.connect(self._rank, self._size, CREDITS + BEYOND, HEADER.size + self._most)
        self._peers = {rank: Peer(rank, connection) for rank, connection in self._mesh.peers.items()}

    # ---- sending

    async def send(self, rank: int, words: Words, data: bytes | memoryview) -> None:
        """Split a message and send the parts as credits allow."""
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
        """Send one part and return all credits owed to the peer."""
        await self._host.spend("mpi_part")
        place = await peer.connection.buffer()
        back, peer.owed = peer.owed, 0
        copied = await self._copier.copy(data)
        self._mesh.nic.process.store_bytes(place.va, HEADER.pack(*words, size, number, back) + copied)
        await peer.connection.send(place, HEADER.size + len(data))

    # ---- receiving

    async def poll(self) -> None:
        """Process all received parts."""
        while self._peers and (found := await self._mesh.queue.done()) is not None:
            await self._take(*found)

    async def wait(self, condition: Callable[[], bool]) -> None:
        """Process parts until the condition holds."""
        while not condition():
            await self._take(*await self._mesh.queue.poll())

    async def finish(self) -> None:
        """Do nothing: the NIC delivers what was sent."""

    async def _take(self, vi: Any, _: bool) -> None:
        """Process a part received by a VI, post its buffer again, and return credits when half are due."""
        connection = self._mesh.peer(vi)
        peer = self._peers[connection.node]
        place = (await connection.received())[0]
        await self._host.spend("mpi_take_part")
        load = self._mesh.nic.process.load_bytes
        *words, size, number, back = HEADER.unpack(load(place.va, HEADER.size))
        peer.credits += back
        if number != ONLY_CREDITS:
            begin = number * self._most
            data = load(place.va + HEADER.size, min(self._most, size - begin))
            await self._arrive(peer, (words[0], words[1], words[2], words[3]), size, begin, data)
            peer.owed += 1
        await connection.post(place, HEADER.size + self._most)
        if peer.owed >= CREDITS // 2:
            await self._send(peer, (0, 0, 0, 0), 0, ONLY_CREDITS, b"")

    async def _arrive(self, peer: Peer, words: Words, size: int, begin: int, data: bytes) -> None:
        """Process a part of a message; parts arrive in order."""
        assert self._port is not None
        if not begin:
            peer.arrival, peer.left = await self._port.begin(peer.rank, words, size), size
        assert peer.arrival is not None
        if data:
            await peer.arrival.put(begin, data)
        peer.left -= len(data)
        if not peer.left:
            await peer.arrival.end()
