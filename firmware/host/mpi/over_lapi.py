"""MPI on LAPI: each message is an active message, with the envelope as its user header (paper 001, 6.3 and 6.4).

The header handler finds the receive, and so where the data go: they are copied once a side. Messages of LAPI overtake
each other, MPI's may not: they are numbered, and one that comes too soon waits in a buffer of its own until the gap is
closed. A completion handler that LAPI brings along sets a word when a message is whole, so none costs a switch to
LAPI's thread: the version that the paper calls enhanced.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from firmware.host.lapi import Place, Set
from firmware.host.mpi.transport import Arrival, Port, Words
from firmware.verbs import Host

ENVELOPE = struct.Struct(">iiiiII")
"""The message's words, its bytes, its number at the sender for this rank."""
WORD = 4
LEAST = 4096
"""Bytes of the least buffer."""


class Buffers:
    """Memory of LAPI's process that stands for the application's: a buffer is used again by messages of its size."""

    def __init__(self, process: Any) -> None:
        self._process = process
        self._free: dict[int, list[int]] = {}

    def take(self, size: int) -> int:
        """Address of one with so many bytes."""
        room = self._room(size)
        free = self._free.setdefault(room, [])
        return free.pop() if free else int(self._process.allocate(room))

    def word(self) -> int:
        """A word that is 0."""
        address = self.take(WORD)
        self._process.store_bytes(address, bytes(WORD))
        return address

    def give_back(self, address: int, size: int) -> None:
        """It is not needed any more."""
        self._free[self._room(size)].append(address)

    @staticmethod
    def _room(size: int) -> int:
        return max(LEAST, 1 << max(size - 1, 0).bit_length())


@dataclass(eq=False)
class Coming:
    """A message on its way in."""

    source: int
    words: Words
    size: int
    address: int
    """Where its data go; 0: it has none."""
    flag: int
    """The word that is not 0 when it is whole."""
    early: bool
    """Its number is not the next one: it began before those ahead of it."""
    arrival: Arrival | None = None
    """None: it waits for a message ahead of it."""


class OverLapi:
    """A `Transport`."""

    def __init__(self, host: Host, rank: int, size: int, lapi: Any) -> None:
        self._host, self._lapi = host, lapi
        self._buffers = Buffers(lapi.process)
        self._port: Port | None = None
        self._handlers: list[int] = []
        self._sent, self._next = [0] * size, [0] * size
        """By rank: messages sent to it, and the number of the next one of it."""
        self._ahead: dict[tuple[int, int], Coming] = {}
        """Messages that wait for others, by source and number."""
        self._coming: list[Coming] = []

    async def start(self, port: Port) -> None:
        """Initialize LAPI, and tell all ranks where the header handler stands."""
        self._port = port
        await self._lapi.Init()
        self._handlers = await self._lapi.Address_init(self._lapi.handler(self._header))

    # ---- out

    async def send(self, rank: int, words: Words, data: bytes | memoryview) -> None:
        """An active message; return when its data are in HAL's buffers."""
        await self._host.spend("mpi_envelope")
        lapi, size, buffers = self._lapi, len(data), self._buffers
        envelope = ENVELOPE.pack(*words, size, self._sent[rank])
        self._sent[rank] += 1
        if not size:
            await lapi.Amsend(rank, self._handlers[rank], envelope, ENVELOPE.size)
            return
        address, origin = buffers.take(size), buffers.word()
        lapi.process.store_bytes(address, data)
        await lapi.Amsend(rank, self._handlers[rank], envelope, ENVELOPE.size, address, size, 0, origin)
        await lapi.Waitcntr(origin, 1)
        buffers.give_back(address, size)
        buffers.give_back(origin, WORD)

    # ---- in

    async def poll(self) -> None:
        """Take in the packets that are here."""
        await self._lapi.Probe()
        await self._take()

    async def wait(self, condition: Callable[[], bool]) -> None:
        """Take in packets until the condition holds."""
        await self._take()
        while not condition():
            await self._lapi.Probe(lambda: condition() or self._has_whole())
            await self._take()

    async def finish(self) -> None:
        """LAPI ends when all has arrived; it goes on to acknowledge what comes."""
        await self._lapi.Term()

    async def _header(self, source: int, user: bytes, size: int) -> Place:
        """The header handler: the first packet of a message."""
        await self._host.spend("mpi_take_envelope")
        *words, _, number = ENVELOPE.unpack(user)
        flag, address = self._buffers.word(), self._buffers.take(size) if size else 0
        early = number != self._next[source]
        coming = Coming(source, (words[0], words[1], words[2], words[3]), size, address, flag, early)
        self._coming.append(coming)
        self._ahead[source, number] = coming
        while (next_one := self._ahead.pop((source, self._next[source]), None)) is not None:
            self._next[source] += 1
            assert self._port is not None
            next_one.arrival = await self._port.begin(source, next_one.words, next_one.size)
        return Place(address, Set(flag, 1))

    def _whole(self, coming: Coming) -> bool:
        """Whether all of a message is here, and its turn has come."""
        return coming.arrival is not None and self._lapi.process.load_bytes(coming.flag, WORD) != bytes(WORD)

    def _has_whole(self) -> bool:
        return any(self._whole(one) for one in self._coming)

    async def _take(self) -> None:
        """Hand over the messages that are whole."""
        while (coming := next((one for one in self._coming if self._whole(one)), None)) is not None:
            self._coming.remove(coming)
            assert coming.arrival is not None
            if coming.size:
                data = self._lapi.process.load_bytes(coming.address, coming.size)
                await coming.arrival.put(0, data, placed=not coming.early)
                self._buffers.give_back(coming.address, coming.size)
            self._buffers.give_back(coming.flag, WORD)
            await coming.arrival.end()
