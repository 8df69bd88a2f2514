"""Send side: descriptors from queue caches, payload fetched page by page, one packet a fetch (paper 001, 3.2.2 and
3.3.3).

One message is sent at a time, and its packets overlap (readings C3). A piece of a page that is longer than a packet
makes several. No packet crosses a page or segment boundary, because each start of the host DMA makes one packet.
"""

from __future__ import annotations

import struct
from collections import deque

from firmware.via import formats as via
from firmware.via.formats import REST, Header, Status
from firmware.via.nic.breaking import Breaking
from firmware.via.nic.completions import Completions
from firmware.via.nic.connection import Connection, Unacknowledged
from firmware.via.nic.descriptor_readers import DescriptorReaders
from firmware.via.nic.descriptors import Refused, Work
from firmware.via.nic.endpoint import Endpoint
from firmware.via.nic.incoming import Scatter
from firmware.via.nic.layout import Kind, State
from firmware.via.nic.ni import Ni
from firmware.via.nic.outgoing import Outgoing
from firmware.via.nic.queue_cache import CentralCache, QueueCache
from firmware.via.nic.refill import Refill
from firmware.via.nic.round_robin import RoundRobin
from pymodels.trace import TraceEvent

OPERATIONS = {Kind.SEND: Status(0), Kind.WRITE: Status.WRITE, Kind.READ: Status.READ}
"""Status bits that name the completed operation."""


class Sender:
    """Sender of messages: takes descriptors from queue caches and transmits their data."""

    def __init__(
        self, ni: Ni, completions: Completions, refill: Refill, readers: DescriptorReaders, breaking: Breaking
    ) -> None:
        self._ni, self._nic, self._port = ni, ni.nic, ni.port
        self._completions, self._refill, self._readers, self._breaking = completions, refill, readers, breaking
        self._turns = RoundRobin()
        self._now: Outgoing | None = None
        self._responses: deque[Outgoing] = deque()
        """Data of RDMA reads, which are sent before posted descriptors."""
        self._reading = False
        """True while a descriptor is read or an address translated; `advance` returns at once then."""

    async def rung(self, cache: QueueCache) -> None:
        """Handle a doorbell: descriptors are posted in a queue cache."""
        if not cache.user or self._ni.endpoints[cache.vi].owned:
            self._turns.add(cache)
            await self.advance()

    def leave(self, endpoint: Endpoint) -> None:
        """Discard the sends of a VI without an owner. A message in progress is sent, but gets no status."""
        assert endpoint.sends is not None
        self._turns.remove(endpoint.sends)
        if self._now is not None and self._now.endpoint is endpoint:
            self._now.work.descriptor = self._now.work.home = 0

    async def respond(self, answer: Outgoing) -> None:
        """Send the data of an RDMA read."""
        self._responses.append(answer)
        await self.advance()

    async def fetched(self) -> None:
        """Handle the end of a fetch."""
        now = self._now
        assert now is not None  # a message ends after its last fetch
        now.underway -= 1
        now.fetched += not self._port.waits
        self._nic.trace(TraceEvent.NIC_DMA_DONE, now.key, message=now.message)
        await self.advance()

    @property
    def work(self) -> Work | None:
        """Descriptor of the message in progress, or None."""
        return None if self._now is None else self._now.work

    def forget_page(self) -> None:
        """Translate the rest of the current page again before its next use."""
        now = self._now
        if now is not None and now.piece[1] and now.work.pages.untake(now.piece[1]):
            now.piece = 0, 0

    async def advance(self) -> None:
        """Continue as far as possible: begin messages, fetch payload, launch packets."""
        while not self._reading:
            now = self._now
            if now is None:
                if not await self._next():
                    return
                continue
            if not await self._proceed(now) or (self._now is None and self._yields_to_loop(now.cache)):
                return

    async def _next(self) -> bool:
        """Begin a response or a message. Return False if there is none."""
        if self._responses:
            self._now = self._responses.popleft()
            return True
        await self._nic.caught_up()
        cache = self._turns.next()
        if cache is not None:
            self._reading = True
            await self._begin(cache)
            self._reading = False
        return cache is not None

    async def _proceed(self, now: Outgoing) -> bool:
        """Take the next step of a message. Return False if it has to wait."""
        if now.leaving:
            if not now.underway:
                await self._end(now)
            return not now.underway
        await self._fetch(now)
        if self._now is not None:
            if not (self._port.ready() and now.launchable()):
                return False
            await self._launch(now)
        return True

    def _yields_to_loop(self, cache: QueueCache | None) -> bool:
        """Return True if the polling loop must run after a message of the central queue.

        The loop handles other events and then sees the rest of the queue. Messages that only this object knows are sent
        first.
        """
        if not isinstance(cache, CentralCache):
            return False
        self._turns.remove(cache)
        cache.ended = True
        return not (self._responses or self._turns)

    async def _begin(self, cache: QueueCache) -> None:
        """Begin the next descriptor of a queue cache."""
        self._nic.trace(TraceEvent.NIC_NOTICED, 0, cache.vi)
        number = self._ni.number()
        work = await self._readers.reader_for(cache).send(cache)
        endpoint = self._ni.endpoints[work.vi]
        connected = endpoint.state() is State.CONNECTED
        connection = endpoint.connection if work.node < 0 else Connection(work.node)
        key = self._ni.key(connection, number)
        message, asked = self._nic.message_at(work.descriptor, in_host=True), work.vi | work.asks << 8
        self._nic.trace(TraceEvent.NIC_DESCRIPTOR, key, work.descriptor, asked, message=message)
        if work.kind == Kind.READ and not connection.reliable and not work.status:
            work.status = Status.FORMAT_ERROR  # a loss of the data would not be reported
        if work.status or not (connected or work.node >= 0):
            await self._refuse(cache, work, connected, number, message)
            return
        data = via.Kind.RDMA if work.kind == Kind.WRITE else via.Kind.SEND
        self._now = now = Outgoing(endpoint, connection, work, cache, number, key, data, message=message)
        if work.target:
            now.before.append((via.Kind.ADDRESS, work.target))
        if work.kind == Kind.READ:
            await self._nic.work("read_begin")
            now.before.append((via.Kind.READ, struct.pack(">I", work.length)))
            return
        if work.immediate:
            now.behind.append((via.Kind.IMMEDIATE, work.immediate))
        if work.inline is not None:
            now.before.append((data, work.inline))
        elif not work.pages.more() and not work.immediate:
            now.before.append((data, b""))

    async def _refuse(self, cache: QueueCache, work: Work, connected: bool, number: int, message: int) -> None:
        """Complete an invalid descriptor, or one of a VI that is not connected, in order with the earlier sends."""
        await work.pages.skip()
        cache.free()
        await self._refill.look(cache)
        endpoint = self._ni.endpoints[work.vi]
        wrong = work.status or Status.FLUSHED
        if work.descriptor:
            if endpoint.connection.reliable:
                endpoint.count_left()
            endpoint.connection.unacknowledged.append(
                Unacknowledged(number, work.descriptor, work.home, 0, wrong, over=True, message=message)
            )
            await self._completions.acknowledged(endpoint)
        elif connected:  # no descriptor for a status
            await self._breaking.break_up(endpoint, Status.FLUSHED)

    async def _fetch(self, now: Outgoing) -> None:
        """Start fetches while payload and room are left."""
        while True:
            if not now.piece[1]:
                self._reading = True
                try:
                    page = await now.work.pages.take() if now.work.pages.more() else None
                except Refused as refused:  # the memory was deregistered during the message
                    await self._give_up(now, refused.status)
                    return
                finally:
                    self._reading = False
                if page is None:
                    return
                now.piece = page
            address, left = now.piece
            size = min(left, self._port.most)
            if not self._port.room(size):
                return
            if not now.work.short:
                await self._nic.work_on("send_piece")
            now.piece = address + size, left - size
            now.fetching.append(size)
            self._nic.trace(TraceEvent.NIC_DMA_START, now.key, size, message=now.message)
            await self._port.fetch(address, size, now.message)
            now.underway += 1
            now.fetched += self._port.waits
            if self._port.prepares and now.in_turn:
                await self._prepare(now, size)

    async def _give_up(self, now: Outgoing, status: Status) -> None:
        """Stop fetching a message, and send only what was fetched."""
        await now.work.pages.skip()
        now.behind.clear()
        now.work.status = status
        if now.over:
            await self._over(now)

    async def _header(self, now: Outgoing, kind: via.Kind, size: int, last: bool) -> tuple[int, int]:
        """Return the header words of the next packet in message order."""
        await self._nic.work_on("user_packet" if now.user else "send_packet")
        to = now.connection
        sequence = to.next_sequence()
        header = Header(self._ni.me, to.number, now.number, size & REST, to.peer, kind, now.first, last, sequence)
        now.first = False
        return header.words()

    async def _prepare(self, now: Outgoing, size: int) -> None:
        """Give the port the header of the newest fetch before the fetch has ended."""
        now.prepared += 1
        last = now.all_fetched and not now.behind
        await self._port.prepare(now.connection.node, await self._header(now, now.data, size, last))

    async def _launch(self, now: Outgoing) -> None:
        """Launch the next packet."""
        prepared = not now.before and now.prepared
        kind, size, data = now.next()
        if prepared:
            now.prepared -= 1
            await self._port.launch_prepared(size, now.message)
        else:
            header = await self._header(now, kind, size, now.over and not now.work.status)
            await self._port.launch(now.connection.node, header, size, data, message=now.message)
        self._nic.trace(TraceEvent.NIC_SEND_START, now.key, size, message=now.message)
        if now.over:
            await self._over(now)

    async def _over(self, now: Outgoing) -> None:
        """End the message after its last launch, or later when all payload has left host memory."""
        if now.underway:
            now.leaving = True
        else:
            await self._end(now)

    async def _end(self, now: Outgoing) -> None:
        """Complete the descriptor of a message that has left, or keep it until its acknowledgement."""
        self._now = None
        work, endpoint, connection = now.work, now.endpoint, now.connection
        await self._nic.work_on("user_sent" if now.user else "send_end")
        if now.cache is None:
            await self._nic.caught_up()
            if work.status and endpoint.connected(connection):
                await self._breaking.refuse(endpoint, via.Kind.NOT_ALLOWED, now.asked, now.cause)
            return
        now.cache.free()
        await self._refill.look(now.cache)
        operation = work.status | OPERATIONS[work.kind]
        if connection.reliable:
            await self._nic.work("send_unanswered")
            endpoint.count_left()
            if endpoint.connected(connection):
                reading = None if work.into is None else Scatter(work.into)
                known = now.number, work.descriptor, work.home, work.length, operation
                waits = Unacknowledged(*known, reading, over=bool(work.status), message=now.message)
                connection.unacknowledged.append(waits)
                await self._completions.acknowledged(endpoint)
                return
            operation |= connection.status_of_unsent(now.number)
        await self._completions.send(endpoint, work.descriptor, work.length, operation)
