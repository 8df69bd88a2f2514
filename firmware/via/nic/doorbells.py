"""Doorbells: notification of the NIC about posted descriptors (paper 001, 2.2.1).

d2: one queue for all VIs, filled by the kernel; the NIC polls its tail. d1_ring, d1_word: a queue for each VI in a page
of its process; the NIC polls all tails. With d1_word the host does not post until the NIC has taken the previous
descriptor. hw: the same queues, but a store into the card's doorbell region appends to a FIFO, and the NIC polls one
bit.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

from firmware.common.nic import Bells, Service
from firmware.verbs import PollLoop, Watch
from firmware.via.nic.layout import Word
from firmware.via.nic.ni import Ni
from firmware.via.nic.queue_cache import MASK, CentralCache, QueueCache
from firmware.via.nic.user_pages import BELL_RECEIVE

Rung = Callable[[QueueCache], Awaitable[None]]
"""Handler for a queue cache with new descriptors."""


class Owned(Protocol):
    """VIs that processes own."""

    fresh: list[int]
    """VIs with a new owner, whose words may have moved."""

    @property
    def highest(self) -> int:
        """Highest owned VI, or 0."""


class Central:
    """Central send queue, for d2 and for the kernel's own messages.

    After each message of this queue the polling loop runs: it handles other events, and reads the tail again.
    """

    def __init__(self, ni: Ni, rung: Rung) -> None:
        size = ni.options.send_words
        counters = Word.SEND_TAIL, Word.SEND_HEAD, Word.SEND_QUEUED
        self.cache = CentralCache(ni.nic, ni.layout.send, size, *counters)
        self._rung = rung
        self._seen = 0
        """Value that the tail is compared with."""
        self.service: Service = Watch(Word.SEND_TAIL, 0, "look_tail"), self._posted
        """Service for the polling loop."""

    async def _posted(self) -> int:
        self._seen = self.cache.tail
        await self._rung(self.cache)
        return self._seen

    def see_rest(self) -> int:
        """Make the rest of the queue visible to the polling loop after the end of a message."""
        self.cache.ended = False
        self._seen = self.cache.at
        return self._seen

    def left(self) -> bool:
        """Return True if the queue has descriptors after the last seen one."""
        if self.cache.ended:
            self.see_rest()
        return self._seen != self.cache.tail

    def look_again(self, loop: PollLoop, step: int) -> None:
        """Update the compare value of the tail before a run of the polling loop."""
        if self.cache.ended:
            loop.expect(step, self.see_rest())


class News:
    """Counter that the kernel increments after each of its writes.

    Where the NIC polls words of processes, it polls this counter instead of each word of the kernel.
    """

    def __init__(self, ni: Ni, central: Central, kernel: Sequence[Service]) -> None:
        """Create the service; `kernel` are the services that it replaces in the loop."""
        self._nic, self._central, self._kernel = ni.nic, central, kernel
        self.service: Service = Watch(Word.NEWS, 0, "look_news"), self._written
        """Service for the polling loop."""

    async def _written(self) -> int:
        seen = self._nic.load(Word.NEWS)
        for _, step in self._kernel:
            await step()
            await self._nic.caught_up()
        return seen - self._central.left() & MASK

    def look_again(self, loop: PollLoop, step: int) -> None:
        """Force a hit of the counter's watch after a message of the central queue, before a run of the loop."""
        if self._central.cache.ended:
            self._central.see_rest()
            loop.expect(step, self._nic.load(Word.NEWS) - 1 & MASK)


class Polled:
    """Polled doorbells: d1_ring and d1_word."""

    def __init__(self, ni: Ni, sends: Rung, receives: Rung | None) -> None:
        """Create the doorbells. With `receives`, the tails of receive queues are polled too."""
        self._caches: list[tuple[QueueCache, Rung]] = []
        for endpoint in ni.endpoints[1:]:
            assert endpoint.sends is not None
            self._caches.append((endpoint.sends, sends))
            if receives is not None:
                self._caches.append((endpoint.receives.cache, receives))
        self._each = 1 if receives is None else 2

    def services(self) -> list[Service]:
        """Return a service for every tail, VI 1 first. The loop polls those up to the highest owned VI only."""
        return [self._service(*cache) for cache in self._caches]

    def aim(self, loop: PollLoop, always: int, owned: Owned) -> None:
        """Restrict the loop to the words of owned VIs, after the first `always` steps."""
        loop.first(always + self._each * owned.highest)
        while owned.fresh:
            first = self._each * (owned.fresh.pop() - 1)
            for step in range(first, first + self._each):
                loop.aim(always + step, self._caches[step][0].tail_at)

    @staticmethod
    def _service(cache: QueueCache, rung: Rung) -> Service:
        async def step() -> int:
            seen = cache.tail
            await rung(cache)
            return seen

        return Watch(cache.tail_at, 0, "look_bell"), step


class Fifo:
    """Doorbell FIFO of the card: hw."""

    def __init__(self, ni: Ni, bells: Bells, sends: Rung, receives: Rung | None) -> None:
        """Create the doorbells. With `receives`, those of receive queues are handled too."""
        self._ni, self._nic, self._bells = ni, ni.nic, bells
        self._sends, self._receives = sends, receives
        self._caches = [endpoint.sends for endpoint in ni.endpoints if endpoint.sends is not None]

    def services(self) -> list[Service]:
        """Return the service of the FIFO's bit."""
        return self._bells.services(self._ring_bell)

    async def _ring_bell(self, page: int, offset: int, value: int) -> None:
        """Handle a store into a page of the doorbell region. A page without a VI is ignored."""
        await self._nic.work("bell_rung")
        if not 0 < page < len(self._caches):
            return
        if offset == BELL_RECEIVE:
            if self._receives is not None:
                await self._receives(self._ni.endpoints[page].receives.cache)
        else:
            self._caches[page].set_tail(value)
            await self._sends(self._caches[page])
