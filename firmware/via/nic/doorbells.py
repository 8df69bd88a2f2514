"""How the NIC learns that a descriptor was posted (paper 001, 2.2.1).

d2: one queue for all VIs, which the kernel fills; its tail is polled. d1_ring, d1_word: a queue for each VI in a page
of its process, all tails are polled; with d1_word the host does not post until the NIC has taken what was posted
before. hw: the same queues, but a store into the card's doorbell region appends to a FIFO, and the NIC looks at one
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
"""What is done when something is in a queue cache."""


class Owned(Protocol):
    """Which VIs processes have."""

    fresh: list[int]
    """Those that have a new owner, whose words may stand elsewhere."""

    @property
    def highest(self) -> int:
        """The highest one; 0: none."""


class Central:
    """The central send queue: d2, and the kernel's own messages. After each message of it the polling loop comes first:
    it looks at what else there is, and at the tail again.
    """

    def __init__(self, ni: Ni, rung: Rung) -> None:
        size = ni.options.send_words
        counters = Word.SEND_TAIL, Word.SEND_HEAD, Word.SEND_QUEUED
        self.cache = CentralCache(ni.nic, ni.layout.send, size, *counters)
        self._rung = rung
        self._seen = 0
        """What the tail is compared with."""
        self.service: Service = Watch(Word.SEND_TAIL, 0, "look_tail"), self._posted
        """What the polling loop must look at."""

    async def _posted(self) -> int:
        self._seen = self.cache.tail
        await self._rung(self.cache)
        return self._seen

    def see_rest(self) -> int:
        """A message of it has ended: what is behind that is to be seen again."""
        self.cache.ended = False
        self._seen = self.cache.at
        return self._seen

    def left(self) -> bool:
        """Whether more is in the queue than was seen."""
        if self.cache.ended:
            self.see_rest()
        return self._seen != self.cache.tail

    def look_again(self, loop: PollLoop, step: int) -> None:
        """Before a run of the polling loop, of which this is the step that looks at the tail."""
        if self.cache.ended:
            loop.expect(step, self.see_rest())


class News:
    """All that the kernel writes, behind one word that it counts up after each: where the NIC polls words of processes,
    it looks at this one only.
    """

    def __init__(self, ni: Ni, central: Central, kernel: Sequence[Service]) -> None:
        """`kernel`: what would be looked at otherwise."""
        self._nic, self._central, self._kernel = ni.nic, central, kernel
        self.service: Service = Watch(Word.NEWS, 0, "look_news"), self._written
        """What the polling loop must look at."""

    async def _written(self) -> int:
        seen = self._nic.load(Word.NEWS)
        for _, step in self._kernel:
            await step()
            await self._nic.caught_up()
        return seen - self._central.left() & MASK

    def look_again(self, loop: PollLoop, step: int) -> None:
        """Before a run of the polling loop, of which this is the step: have it taken for one with news behind a message
        of the central queue.
        """
        if self._central.cache.ended:
            self._central.see_rest()
            loop.expect(step, self._nic.load(Word.NEWS) - 1 & MASK)


class Polled:
    """d1_ring and d1_word."""

    def __init__(self, ni: Ni, sends: Rung, receives: Rung | None) -> None:
        """`receives`: receive queues are looked at too."""
        self._caches: list[tuple[QueueCache, Rung]] = []
        for endpoint in ni.endpoints[1:]:
            assert endpoint.sends is not None
            self._caches.append((endpoint.sends, sends))
            if receives is not None:
                self._caches.append((endpoint.receives.cache, receives))
        self._each = 1 if receives is None else 2

    def services(self) -> list[Service]:
        """Every tail, those of VI 1 first: only those up to the highest VI that a process has are looked at."""
        return [self._service(*cache) for cache in self._caches]

    def aim(self, loop: PollLoop, always: int, owned: Owned) -> None:
        """Look at the words of VIs that a process has, behind so many steps that are always looked at."""
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
    """hw."""

    def __init__(self, ni: Ni, bells: Bells, sends: Rung, receives: Rung | None) -> None:
        """`receives`: those of receive queues are taken too."""
        self._ni, self._nic, self._bells = ni, ni.nic, bells
        self._sends, self._receives = sends, receives
        self._caches = [endpoint.sends for endpoint in ni.endpoints if endpoint.sends is not None]

    def services(self) -> list[Service]:
        """The FIFO's bit."""
        return self._bells.services(self._ring_bell)

    async def _ring_bell(self, page: int, offset: int, value: int) -> None:
        """A store into a page of the doorbell region; for a page that belongs to no VI it has no effect."""
        await self._nic.work("bell_rung")
        if not 0 < page < len(self._caches):
            return
        if offset == BELL_RECEIVE:
            if self._receives is not None:
                await self._receives(self._ni.endpoints[page].receives.cache)
        else:
            self._caches[page].tell(value)
            await self._sends(self._caches[page])
