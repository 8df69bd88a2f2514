"""Receive descriptors of VIs, read when a message arrives, or ahead."""

from __future__ import annotations

from firmware.via.formats import Status
from firmware.via.nic.breaking import Breaking
from firmware.via.nic.completions import Completions
from firmware.via.nic.descriptor_readers import DescriptorReaders
from firmware.via.nic.descriptors import Meanwhile, Work
from firmware.via.nic.endpoint import Endpoint
from firmware.via.nic.incoming import Incoming
from firmware.via.nic.layout import Control
from firmware.via.nic.ni import Ni
from firmware.via.nic.queue_cache import QueueCache
from firmware.via.nic.refill import Refill

MOST_AHEAD = 16
"""Maximum number of receive descriptors of a VI that are read ahead, as a receive queue cache holds."""


class ReceiveDescriptors:
    """Reader of receive descriptors from queue caches."""

    def __init__(
        self, ni: Ni, completions: Completions, refill: Refill, readers: DescriptorReaders, breaking: Breaking
    ) -> None:
        self._ni, self._nic = ni, ni.nic
        self._completions, self._refill, self._readers, self._breaking = completions, refill, readers, breaking

    async def next(self, endpoint: Endpoint, meanwhile: Meanwhile | None = None) -> Incoming | None:
        """Return the descriptor for a message, or None. `meanwhile` runs once."""
        queue, cache = endpoint.receives, endpoint.receives.cache
        if queue.ahead:
            if meanwhile is not None:
                await meanwhile()
                meanwhile = None
            await self._refuse_ahead(endpoint)
        if queue.ahead:
            await self._nic.work("take_ahead")
            message = Incoming(queue, queue.ahead.popleft(), read_ahead=True)
            await self._read_ahead(endpoint)
            return message
        await self._nic.caught_up()
        while await self._refill.descriptor(cache):
            work = await self._readers.reader_for(cache).receive(cache, meanwhile)
            meanwhile = None
            if not work.status:
                return Incoming(queue, work, read_ahead=cache.user)
            if not await self._refuse(endpoint, work):
                break
        if meanwhile is not None:
            await meanwhile()
        return None

    async def refused(self, endpoint: Endpoint) -> None:
        """Complete the descriptors that the kernel has rejected, up to the first valid one."""
        cache = endpoint.receives.cache
        while (
            endpoint.connection.receiving is None
            and cache.ready >= cache.least
            and Control.decode(cache.peek()).refused
        ):
            await self._refuse(endpoint, await self._readers.reader_for(cache).receive(cache))

    async def posted(self, cache: QueueCache) -> None:
        """Read posted descriptors ahead, and complete invalid ones before the first valid one."""
        endpoint = self._ni.endpoints[cache.vi]
        if endpoint.connection.receiving is None:
            await self._read_ahead(endpoint)
            await self._refuse_ahead(endpoint)

    async def _read_ahead(self, endpoint: Endpoint) -> None:
        """Read posted descriptors, valid or not, while there is room."""
        cache, ahead = endpoint.receives.cache, endpoint.receives.ahead
        if not self._ni.options.reads_ahead or not endpoint.owned:
            return
        while cache.ready >= cache.least and len(ahead) < MOST_AHEAD:
            work = await self._readers.reader_for(cache).receive(cache)
            if not work.descriptor:
                await self._breaking.break_up(endpoint, Status.FLUSHED)
                break
            await self._nic.work("keep_ahead")
            ahead.append(work)

    async def _refuse_ahead(self, endpoint: Endpoint) -> None:
        """Complete the invalid descriptors among those read ahead, up to the first valid one."""
        ahead = endpoint.receives.ahead
        while ahead and ahead[0].status:
            work = ahead.popleft()
            await self._completions.receive(endpoint, work.descriptor, 0, work.status)

    async def _refuse(self, endpoint: Endpoint, work: Work) -> bool:
        """Complete an invalid descriptor. Without a descriptor, break the connection and return False."""
        endpoint.receives.cache.free()
        if work.descriptor:
            await self._completions.receive(endpoint, work.descriptor, 0, work.status)
            await self._nic.caught_up()
            return True
        await self._breaking.break_up(endpoint, Status.FLUSHED)
        return False
