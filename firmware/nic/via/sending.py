"""The sending half: descriptors from the send queue, payload fetched page by page, a packet for every fetch (paper 001,
3.2.2 and 3.3.3).

One message is sent at a time; its packets overlap (readings C3). A piece of a page that is longer than a packet makes
several, and no packet crosses from one page or segment to the next: each start of the host DMA makes one packet.
"""

from __future__ import annotations

import struct

from firmware.nic.via.completing import Completing
from firmware.nic.via.layout import CONTROL_WORDS, PAGE_WORDS, Control, Kind, State
from firmware.nic.via.ni import Ni, Unanswered
from firmware.nic.via.outgoing import Outgoing
from firmware.nic.via.outlet import Outlet
from firmware.nic.via.refill import Refill
from firmware.nic.via.ring import Ring
from pymodels.formats import via
from pymodels.formats.via import Header, Status
from pymodels.trace import TraceEvent


class Sender:
    """Takes descriptors from a queue cache and sends what they say."""

    def __init__(self, ni: Ni, ring: Ring, outlet: Outlet, completing: Completing, refill: Refill) -> None:
        self._ni, self._nic, self._port = ni, ni.nic, ni.port
        self._ring, self._completing, self._refill = ring, completing, refill
        self._now: Outgoing | None = None
        self._skipping = False
        outlet.more = self.advance

    async def fetched(self) -> None:
        """A fetch is complete."""
        if self._now is not None:
            self._now.fetched += 1
            self._nic.trace(TraceEvent.NIC_DMA_DONE, self._now.key)
        await self.advance()

    async def advance(self) -> None:
        """Do what can be done: begin a message, fetch, launch."""
        while not self._skipping:
            now = self._now
            if now is None:
                if self._ring.ready < CONTROL_WORDS:
                    return
                await self._begin()
                continue
            await self._fetch(now)
            if not (self._port.ready() and now.launchable()):
                return
            await self._launch(now)

    async def _begin(self) -> None:
        """The next descriptor."""
        await self._nic.work("send_begin")
        first, descriptor, length = self._ring.take(CONTROL_WORDS)
        control = Control.of(first)
        endpoint = self._ni.endpoints[control.vi]
        state = endpoint.state()
        node, peer = (endpoint.node, endpoint.peer) if control.vi else (length >> 16, 0)
        key = self._ni.me << 24 | self._ni.number()
        self._nic.trace(TraceEvent.NIC_NOTICED, key, control.vi)
        data = via.Kind.RDMA if control.kind == Kind.WRITE else via.Kind.SEND
        size = length if control.vi else length & 0xFFFF
        now = Outgoing(endpoint, control, descriptor, size, node, peer, key, data)
        await self._read(now)
        if state is State.CONNECTED or not control.vi:
            self._now = now
        else:
            await self._refuse(now)

    async def _read(self, now: Outgoing) -> None:
        """What follows the control words."""
        control = now.control
        if control.kind == Kind.WRITE:
            await self._nic.work("send_write")
            now.before.append((via.Kind.ADDRESS, struct.pack(">2I", *self._ring.take(2))))
        if control.immediate:
            now.behind.append((via.Kind.IMMEDIATE, struct.pack(">I", *self._ring.take(1))))
        if control.inline:
            count = -(-now.length // 4)
            await self._nic.work("send_inline")
            data = struct.pack(f">{count}I", *self._ring.take(count))[: now.length]
            now.before.append((now.data, data))
        elif control.entries:
            now.entries = control.entries
        elif not control.immediate:
            now.before.append((now.data, b""))

    async def _refuse(self, now: Outgoing) -> None:
        """Its VI is not connected: skip its list, and say so in its status."""
        self._skipping = True
        while now.entries:
            await self._refill.send_words(self._ring, PAGE_WORDS)
            self._ring.take(PAGE_WORDS)
            now.entries -= 1
        self._skipping = False
        self._ring.free()
        await self._completing.send(now.endpoint, now.descriptor, 0, Status.FLUSHED)

    async def _fetch(self, now: Outgoing) -> None:
        """Start fetches as long as there is something to fetch, and room."""
        while True:
            if not now.piece[1]:
                if not now.entries:
                    return
                if self._ring.ready < PAGE_WORDS:  # a list that is longer than the ring
                    self._ring.free()
                    await self._refill.look_sends(self._ring)
                    return
                await self._nic.work("send_page")
                address, size = self._ring.take(2)
                now.piece = address, size
                now.entries -= 1
            address, left = now.piece
            size = min(left, self._ni.options.packet)
            if not self._port.room(size):
                return
            await self._nic.work("send_piece")
            now.piece = address + size, left - size
            now.fetching.append(size)
            self._nic.trace(TraceEvent.NIC_DMA_START, now.key, size)
            await self._port.fetch(address, size)

    async def _launch(self, now: Outgoing) -> None:
        """The next packet."""
        await self._nic.work("send_packet")
        kind, size, data = now.next()
        sequence = now.endpoint.next_sequence() if now.control.vi else 0
        header = Header(now.key >> 24, now.key & 0xFFFFFF, size, now.peer, kind, now.first, now.over, sequence)
        now.first = False
        await self._port.launch(now.node, header.words(), size, data)
        self._nic.trace(TraceEvent.NIC_SEND_START, now.key, size)
        if now.over:
            await self._end(now)

    async def _end(self, now: Outgoing) -> None:
        """The last packet has left: the descriptor is done, or waits for the answer."""
        self._now = None
        await self._nic.work("send_end")
        self._ring.free()
        await self._refill.look_sends(self._ring)
        operation = Status.WRITE if now.control.kind == Kind.WRITE else Status(0)
        if now.endpoint.reliable and now.control.vi:
            await self._nic.work("send_unanswered")
            if now.endpoint.state() is State.CONNECTED:
                now.endpoint.unanswered.append(Unanswered(now.descriptor, now.length, operation))
                return
            operation |= now.endpoint.verdict
        await self._completing.send(now.endpoint, now.descriptor, now.length, operation)
