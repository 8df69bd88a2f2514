"""The receive descriptors of VIs: read when a message comes, or before, and flushed when the connection is no more."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from firmware.nic.via.completing import Completing
from firmware.nic.via.incoming import Incoming
from firmware.nic.via.layout import Control
from firmware.nic.via.ni import Endpoint, Ni
from firmware.nic.via.readers import Readers
from firmware.nic.via.refill import Refill
from firmware.nic.via.ring import Ring
from firmware.nic.via.work import Meanwhile, Work
from pymodels.formats.via import Status

MOST_AHEAD = 16
"""Receive descriptors of a VI that are fetched ahead, as a receive queue cache holds."""


class Receives:
    """Takes receive descriptors out of queue caches."""

    def __init__(self, ni: Ni, completing: Completing, refill: Refill, readers: Readers) -> None:
        self._ni, self._nic = ni, ni.nic
        self._completing, self._refill, self._readers = completing, refill, readers
        self.on_wrong: Callable[[Endpoint], Awaitable[None]]
        """Called when there is nothing in a queue cache that could have a status."""

    async def next(self, endpoint: Endpoint, meanwhile: Meanwhile | None = None) -> Incoming | None:
        """The descriptor for a message, None when there is none; `meanwhile` is done once."""
        ring = endpoint.receives
        if endpoint.prefetched:
            if meanwhile is not None:
                await meanwhile()
            await self._nic.work("take_ahead")
            message = Incoming(endpoint, endpoint.prefetched.popleft(), prefetched=True)
            await self.posted(ring)
            return message
        while await self._refill.descriptor(ring):
            work = await self._readers.of(ring).receive(ring, meanwhile)
            meanwhile = None
            if not work.status:
                return Incoming(endpoint, work, prefetched=ring.user)
            if not await self._refuse(endpoint, work):
                break
        if meanwhile is not None:
            await meanwhile()
        return None

    async def refused(self, endpoint: Endpoint) -> None:
        """Complete descriptors that the kernel has refused, up to one for a message: no other one is before them."""
        ring = endpoint.receives
        while endpoint.connection.receiving is None and ring.ready >= ring.least and Control.of(ring.peek()).refused:
            await self._refuse(endpoint, await self._readers.of(ring).receive(ring))

    async def posted(self, ring: Ring) -> None:
        """Read ahead what is posted, as far as there is room for it."""
        endpoint = self._ni.endpoints[ring.vi]
        if not self._ni.options.reads_ahead or not endpoint.owned or endpoint.connection.receiving is not None:
            return
        while ring.ready >= ring.least and len(endpoint.prefetched) < MOST_AHEAD:
            work = await self._readers.of(ring).receive(ring)
            if work.status:
                if not await self._refuse(endpoint, work):
                    break
                continue
            await self._nic.work("keep_ahead")
            endpoint.prefetched.append(work)

    async def _refuse(self, endpoint: Endpoint, work: Work) -> bool:
        """A descriptor with something wrong: its status says so; False when it is not even one."""
        endpoint.receives.free()
        if work.descriptor:
            await self._completing.receive(endpoint, work.descriptor, 0, work.status)
            return True
        await self.on_wrong(endpoint)
        return False

    async def flush(self, endpoint: Endpoint) -> None:
        """Complete all that are posted as flushed."""
        while endpoint.prefetched:
            await self._completing.receive(endpoint, endpoint.prefetched.popleft().descriptor, 0, Status.FLUSHED)
        ring = endpoint.receives
        while ring.ready >= ring.least:
            await self._nic.work("flush_descriptor")
            work = await self._readers.of(ring).receive(ring)
            await work.pages.skip()
            ring.free()
            if work.descriptor:
                await self._completing.receive(endpoint, work.descriptor, 0, work.status or Status.FLUSHED)
