"""MPI over LAPI: each message is an active message with the envelope as its user header (paper 001, 6.3 and 6.4).

The header handler finds the receive and thus the destination, so data are copied once on each side. LAPI messages may
overtake each other, MPI's may not. So they are numbered, and a message that arrives too early waits in its own buffer.
The three versions in `lapi_versions.py` differ in how this rank detects a complete message.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from firmware.lapi.host import Place
from firmware.mpi.host.lapi_versions import VERSIONS, WORD, Buffers, Mark
from firmware.mpi.host.transport import Arrival, Port, Words
from firmware.mpi.options import Options
from firmware.verbs import Host

ENVELOPE = struct.Struct(">iiiiII")
"""The message's words, its size, and its number at the sender for this rank."""


@dataclass(eq=False)
class Coming:
    """Incoming message."""

    source: int
    words: Words
    size: int
    address: int
    """Destination address of the data; 0 without data."""
    mark: Mark
    """Mark of the message's completion."""
    early: bool
    """True if the message began before an earlier one."""
    arrival: Arrival | None = None
    """None while an earlier message is missing."""


class OverLapi:
    """Transport over LAPI."""

    def __init__(self, host: Host, rank: int, size: int, lapi: Any, options: Options) -> None:
        self._host, self._lapi = host, lapi
        self._buffers = Buffers(lapi.process)
        self._version = VERSIONS[options.version](lapi, self._buffers)
        self._port: Port | None = None
        self._handlers: list[int] = []
        self._sent, self._next = [0] * size, [0] * size
        """Messages sent to each rank, and the number of the next one from each rank."""
        self._ahead: dict[tuple[int, int], Coming] = {}
        """Messages that wait for earlier ones, by source and number."""
        self._coming: list[Coming] = []

    async def start(self, port: Port) -> None:
        """Initialise LAPI and exchange the addresses of the header handlers."""
        self._port = port
        await self._lapi.Init()
        await self._version.start(port)
        self._handlers = await self._lapi.Address_init(self._lapi.handler(self._header))

    # ---- sending

    async def send(self, rank: int, words: Words, data: bytes | memoryview) -> None:
        """Send an active message. Return when its data are in HAL's buffers."""
        await self._host.spend("mpi_envelope")
        lapi, size, buffers = self._lapi, len(data), self._buffers
        envelope = ENVELOPE.pack(*words, size, self._sent[rank])
        counter, handler = self._version.counter(rank, self._sent[rank], words), self._handlers[rank]
        self._sent[rank] += 1
        if not size:
            await lapi.Amsend(rank, handler, envelope, ENVELOPE.size, tgt_cntr=counter)
            return
        address, origin = buffers.take(size), buffers.word()
        lapi.process.store_bytes(address, data)
        await lapi.Amsend(rank, handler, envelope, ENVELOPE.size, address, size, counter, origin)
        await lapi.Waitcntr(origin, 1)
        buffers.give_back(address, size)
        buffers.give_back(origin, WORD)

    # ---- receiving

    async def poll(self) -> None:
        """Process received packets."""
        await self._lapi.Probe()
        await self._take()

    async def wait(self, condition: Callable[[], bool]) -> None:
        """Process packets until the condition holds."""
        await self._take()
        while not condition():
            await self._lapi.Probe(lambda: condition() or self._has_whole())
            await self._take()

    async def finish(self) -> None:
        """Terminate LAPI when all messages have arrived; it continues to acknowledge packets."""
        await self._lapi.Term()

    async def _header(self, source: int, user: bytes, size: int) -> Place:
        """Handle the first packet of a message (header handler)."""
        await self._host.spend("mpi_take_envelope")
        *four, _, number = ENVELOPE.unpack(user)
        words, address = (four[0], four[1], four[2], four[3]), self._buffers.take(size) if size else 0
        place, mark = self._version.begin(source, number, words, address)
        coming = Coming(source, words, size, address, mark, number != self._next[source])
        self._coming.append(coming)
        self._ahead[source, number] = coming
        place = replace(place, stored=partial(self._stored, coming))
        while (next_one := self._ahead.pop((source, self._next[source]), None)) is not None:
            self._next[source] += 1
            assert self._port is not None
            next_one.arrival = await self._port.begin(source, next_one.words, next_one.size)
        self._version.began(place)
        return place

    def _stored(self, coming: Coming) -> None:
        """Make data that are already in the application's buffer visible without a call."""
        if coming.size and not coming.early and coming.arrival is not None:
            coming.arrival.show(self._lapi.process.load_bytes(coming.address, coming.size))

    def _whole(self, coming: Coming) -> bool:
        """Return True if a message is complete and its turn has come."""
        return coming.arrival is not None and self._version.whole(coming.mark)

    def _has_whole(self) -> bool:
        return any(self._whole(one) for one in self._coming)

    async def _take(self) -> None:
        """Deliver the complete messages."""
        while (coming := next((one for one in self._coming if self._whole(one)), None)) is not None:
            self._coming.remove(coming)
            assert coming.arrival is not None
            if coming.size:
                data = self._lapi.process.load_bytes(coming.address, coming.size)
                await coming.arrival.put(0, data, placed=not coming.early)
                self._buffers.give_back(coming.address, coming.size)
            self._version.done(coming.mark)
            await coming.arrival.end()
