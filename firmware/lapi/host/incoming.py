"""Received packets, in any order: duplicates are dropped, and data are stored at their offset.

A put carries the destination in every packet. The destination of an active message comes from its header handler, which
needs the first packet. Packets that arrive before it are copied out of HAL's buffers and wait.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from firmware.hal.host.interface import Packet
from firmware.lapi.host.errors import LapiError
from firmware.lapi.host.handlers import Functions, Place
from firmware.lapi.host.header import BYTES, MOST, Flag, Header, Kind
from firmware.lapi.host.link import WINDOW
from firmware.lapi.host.memory import Memory
from firmware.lapi.host.outgoing import Outgoing
from firmware.verbs import Host
from pymodels.host.faults import ProtectionFault


class Data(NamedTuple):
    """Data of a packet and their current address."""

    offset: int
    physical: int
    size: int


@dataclass
class Arrival:
    """Message of which at least one packet has arrived."""

    left: int
    """Number of missing data bytes."""
    begun: bool = False
    place: Place | None = None
    """Destination; None if unknown yet, or if the message is invalid."""
    waiting: list[Data] = field(default_factory=list)
    """Data that arrived before the first packet."""


class Rooms:
    """Buffers for packets that wait for the first packet of their message."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._free: list[int] = []

    def take(self) -> int:
        """Return the physical address of a free buffer."""
        if not self._free:
            begin = self._host.allocate(WINDOW * MOST).address
            self._free = list(range(begin, begin + WINDOW * MOST, MOST))
        return self._free.pop()

    def free(self, physical: int) -> None:
        """Release a buffer."""
        self._free.append(physical)


Whole = Callable[[int, Header, Place, bytes], Awaitable[None]]
"""Callback for a complete message: source, header, result of the header handler, user header."""


class Incoming:
    """Receive side of one task."""

    def __init__(
        self,
        host: Host,
        memory: Memory,
        outgoing: Outgoing,
        functions: Functions,
        whole: Whole,
        fail: Callable[[str, str, str], None],
        current: Callable[[], object],
        running: set[object],
    ) -> None:
        """Create the receive side.

        Args:
            host: the host.
            memory: memory of the task.
            outgoing: send side of the task.
            functions: header handlers.
            whole: callback for a complete message.
            fail: callback for an invalid message, with argument, cause and remedy.
            current: function that returns the running simulation task.
            running: simulation tasks that are in header handlers.
        """
        self._host, self._memory, self._outgoing, self._me = host, memory, outgoing, host.node
        self._functions, self._whole, self._fail = functions, whole, fail
        self._current, self._running = current, running
        self._arrivals: dict[tuple[int, int], Arrival] = {}
        self._rooms = Rooms(host)
        self.acknowledge_at = 0
        """Number of packets acknowledged at a time."""

    async def packet(self, packet: Packet) -> None:
        """Process a packet of HAL."""
        await self._host.spend("lapi_take")
        source, header, outgoing = packet.source, Header.decode(packet.view), self._outgoing
        if header is None:
            return
        receiving = outgoing.peers[source].receiving
        await outgoing.acknowledged(source, header)
        if header.kind == Kind.ACKNOWLEDGE:
            if header.flags & Flag.ASK:
                receiving.note_ack_request(header.sequence)
                if header.flags & Flag.NOW:
                    await outgoing.acknowledge(source, Flag.NOW)
        elif receiving.new(header.sequence):
            await self.part(source, header, packet.address + BYTES, packet.view[BYTES:])
            receiving.taken(header.sequence)
            if header.flags & Flag.ASK:
                receiving.note_ack_request(header.sequence)
        else:
            await outgoing.acknowledge(source)
        if receiving.due(self.acknowledge_at):
            await outgoing.acknowledge(source)
        await outgoing.advance()

    async def own(self, header: Header, body: bytes) -> None:
        """Process a packet of this task to itself, copying its data as HAL would."""
        room = self._rooms.take()
        self._host.store_bytes(room, body)
        await self._host.copy_memory("lapi_copy", room, room, len(body))
        await self.part(self._me, header, room, memoryview(body))
        self._rooms.free(room)

    async def part(self, source: int, header: Header, physical: int, view: memoryview) -> None:
        """Process user header and data of a packet at a physical address."""
        key = (source, header.message)
        arrival = self._arrivals.setdefault(key, Arrival(header.size))
        user = bytes(view[: header.user if header.flags & Flag.FIRST else 0])
        data = Data(header.offset, physical + len(user), len(view) - len(user))
        if not arrival.begun and header.kind == Kind.AMSEND and not header.flags & Flag.FIRST:
            await self._keep(arrival, data)
            return
        if not arrival.begun:
            arrival.begun = True
            arrival.place = await self._begin(source, header, user)
            for early in arrival.waiting:
                await self._store(arrival, early)
                self._rooms.free(early.physical)
        await self._store(arrival, data)
        if not arrival.left:
            del self._arrivals[key]
            if arrival.place:
                await self._whole(source, header, arrival.place, user)

    async def _keep(self, arrival: Arrival, data: Data) -> None:
        """Copy a packet that arrived before the first packet of its message into a buffer."""
        room = self._rooms.take()
        await self._host.spend("lapi_wait")
        await self._host.copy_memory("lapi_copy", room, data.physical, data.size)
        arrival.waiting.append(data._replace(physical=room))

    async def _store(self, arrival: Arrival, data: Data) -> None:
        """Copy data to their destination."""
        arrival.left -= data.size
        if arrival.place and data.size:
            await self._memory.copy(arrival.place.address + data.offset, data.physical, data.size)

    async def _begin(self, source: int, header: Header, user: bytes) -> Place | None:
        """Return the destination of a message's data, or None if it is invalid."""
        place = Place(header.address)
        if header.kind == Kind.AMSEND:
            found = await self._handled(source, header, user)
            if found is None:
                return None
            place = found
        if not header.size:
            return place
        try:
            self._memory.check(place.address, header.size)
        except ProtectionFault as fault:
            what = "the header handler's address" if header.kind == Kind.AMSEND else "tgt_addr"
            self._fail(f"{what} 0x{place.address:x} of task {source}", fault.args[3], "give memory of this task")
            return None
        return place

    async def _handled(self, source: int, header: Header, user: bytes) -> Place | None:
        """Run the header handler of an active message. Return its result, or None if the message is invalid."""
        await self._host.spend("lapi_dispatch")
        handler = self._functions.at(header.address)
        if handler is None:
            what, cause = f"hdr_hdl 0x{header.address:x} of task {source}", "no header handler is registered there"
            self._fail(what, cause, "give an address that `handler` has returned at the target")
            return None
        task = self._current()
        self._running.add(task)
        try:
            return await handler(source, user, header.size)
        except LapiError as error:
            self._fail(f"hdr_hdl 0x{header.address:x}, {error.call}", error.cause, error.remedy)
            return None
        finally:
            self._running.discard(task)
