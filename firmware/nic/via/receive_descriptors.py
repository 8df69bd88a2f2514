"""The receive descriptors of VIs: read when a message comes, or before, and flushed when the connection is no more."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from firmware.nic.via.completions import Completions
from firmware.nic.via.descriptor_readers import DescriptorReaders
from firmware.nic.via.descriptors import Meanwhile, Work
from firmware.nic.via.incoming import Incoming
from firmware.nic.via.layout import Control
from firmware.nic.via.ni import Endpoint, Ni
from firmware.nic.via.queue_cache import QueueCache
from firmware.nic.via.refill import Refill
from pymodels.formats.via import Status

MOST_AHEAD = 16
"""Receive descriptors of a VI that are fetched ahead, as a receive queue cache holds."""


class ReceiveDescriptors:
    """Takes receive descriptors out of queue caches."""

    def __init__(self, ni: Ni, completing: Completions, refill: Refill, readers: DescriptorReaders) -> None:
        self._ni, self._nic = ni, ni.nic
        self._completing, self._refill, self._readers = completing, refill, readers
        self.on_wrong: Callable[[Endpoint], Awaitable[None]]
        """Called when there is nothing in a queue cache that could have a status."""

    async def next(self, endpoint: Endpoint, meanwhile: Meanwhile | None = None) -> Incoming | None:
        """The descriptor for a message, None when there is none; `meanwhile` is done once."""
        cache = endpoint.receives
        if endpoint.prefetched:
            if meanwhile is not None:
                await meanwhile()
            await self._nic.work("take_ahead")
            message = Incoming(endpoint, endpoint.prefetched.popleft(), prefetched=True)
            await self.posted(cache)
            return message
        while await self._refill.descriptor(cache):
            work = await self._readers.of(cache).receive(cache, meanwhile)
            meanwhile = None
            if not work.status:
                return Incoming(endpoint, work, prefetched=cache.user)
            if not await self._refuse(endpoint, work):
                break
        if meanwhile is not None:
            await meanwhile()
        return None

    async def refused(self, endpoint: Endpoint) -> None:
        """Complete descriptors that the kernel has refused, up to one for a message: no other one is before them."""
        cache = endpoint.receives
        while endpoint.connection.receiving is None and cache.ready >= cache.least and Control.of(cache.peek()).refused:
            await self._refuse(endpoint, await self._readers.of(cache).receive(cache))

    async def posted(self, cache: QueueCache) -> None:
        """Read ahead what is posted, as far as there is room for it."""
        endpoint = self._ni.endpoints[cache.vi]
        if not self._ni.options.reads_ahead or not endpoint.owned or endpoint.connection.receiving is not None:
            return
        while cache.ready >= cache.least and len(endpoint.prefetched) < MOST_AHEAD:
            work = await self._readers.of(cache).receive(cache)
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
        cache = endpoint.receives
        while cache.ready >= cache.least:
            await self._nic.work("flush_descriptor")
            work = await self._readers.of(cache).receive(cache)
            await work.pages.skip()
            cache.free()
            if work.descriptor:
                await self._completing.receive(endpoint, work.descriptor, 0, work.status or Status.FLUSHED)
