"""How the NIC learns that a descriptor was posted, and which queue cache is the next to send from (paper 001, 2.2.1).

d2: one queue for all VIs, which the kernel fills; its tail is polled. d1_ring, d1_word: a queue for each VI in a page
of its process, all tails are polled; with d1_word
the host does not post until the NIC has taken what was posted before.
hw: the same queues, but a store into the card's doorbell region appends to a FIFO, and the NIC looks at one bit.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Protocol

from firmware.nic.hardware import Bells, Service, hardware_bells
from firmware.nic.via.layout import Word
from firmware.nic.via.ni import Ni
from firmware.nic.via.queue_cache import QueueCache
from firmware.nic.via.user_pages import BELL_RECEIVE
from firmware.verbs import PollLoop, Watch

Rung = Callable[[QueueCache], Awaitable[None]]
"""What is done when something is in a queue cache."""


class Doorbells(Protocol):
    """The queue caches from which messages are sent."""

    def services(self, sends: Rung, receives: Rung | None) -> list[Service]:
        """What the polling loop must look at. `receives`: receive queues are looked at too."""


class Owned(Protocol):
    """Which VIs processes have."""

    fresh: list[int]
    """Those that have a new owner, whose words may stand elsewhere."""

    @property
    def highest(self) -> int:
        """The highest one; 0: none."""


class Central:
    """d2. After each message the polling loop comes first: it looks at what else there is, and at the tail again."""

    def __init__(self, ni: Ni) -> None:
        self._nic = ni.nic
        size = ni.options.send_words
        self._cache = QueueCache(ni.nic, ni.layout.send, size, Word.SEND_TAIL, Word.SEND_HEAD, Word.SEND_QUEUED)
        self._cache.look_again = self._look_again
        self._watch = Watch(Word.SEND_TAIL, 0, "look_tail")
        self._seen = 0
        """What the tail is compared with."""
        self.expect: Callable[[int], None]
        """Changes that in the polling loop."""

    def services(self, sends: Rung, receives: Rung | None) -> list[Service]:
        """One tail."""

        async def rung() -> int:
            self._seen = self._cache.tail
            await sends(self._cache)
            return self._seen

        return [(self._watch, rung)]

    def found_in(self, services: Sequence[Service]) -> Callable[[PollLoop], None]:
        """What to call with the loop over these services."""
        index = [watch for watch, _ in services].index(self._watch)

        def made(loop: PollLoop) -> None:
            self.expect = partial(loop.expect, index)

        return made

    @property
    def left(self) -> bool:
        """More is in the queue than the polling loop compares with."""
        return self._seen != self._cache.tail

    def _look_again(self) -> None:
        self._seen = self._cache.at
        self.expect(self._seen)


class Polled:
    """d1_ring and d1_word."""

    def __init__(self, ni: Ni) -> None:
        self._ni = ni
        self._each = 1
        self._caches: list[QueueCache] = []

    def services(self, sends: Rung, receives: Rung | None) -> list[Service]:
        """Every tail, those of VI 1 first: only those up to the highest VI that a process has are looked at."""
        services: list[Service] = []
        for endpoint in self._ni.endpoints[1:]:
            assert endpoint.sends is not None
            services.append(self._service(endpoint.sends, sends))
            self._caches.append(endpoint.sends)
            if receives is not None:
                services.append(self._service(endpoint.receives, receives))
                self._caches.append(endpoint.receives)
        self._each = 1 if receives is None else 2
        return services

    def aim(self, loop: PollLoop, always: int, owned: Owned) -> None:
        """Look at the words of VIs that a process has, behind so many steps that are always looked at."""
        loop.first(always + self._each * owned.highest)
        while owned.fresh:
            first = self._each * (owned.fresh.pop() - 1)
            for step in range(first, first + self._each):
                loop.aim(always + step, self._caches[step].tail_at)

    def _service(self, cache: QueueCache, rung: Rung) -> Service:
        async def step() -> int:
            seen = cache.tail
            await rung(cache)
            return seen

        return Watch(cache.tail_at, 0, "look_bell"), step


class Fifo:
    """hw."""

    def __init__(self, ni: Ni, bells: Bells) -> None:
        self._ni, self._nic, self._bells = ni, ni.nic, bells
        self._sends = [endpoint.sends for endpoint in ni.endpoints if endpoint.sends is not None]
        self._rung: Rung
        self._receives: Rung | None = None

    def services(self, sends: Rung, receives: Rung | None) -> list[Service]:
        """The FIFO's bit."""
        self._rung, self._receives = sends, receives
        return self._bells.services(self._ring_bell)

    async def _ring_bell(self, page: int, offset: int, value: int) -> None:
        """A store into a page of the doorbell region; a page that is no VI's rings nothing."""
        await self._nic.work("bell_rung")
        if not 0 < page < len(self._sends):
            return
        if offset == BELL_RECEIVE:
            if self._receives is not None:
                await self._receives(self._ni.endpoints[page].receives)
        else:
            self._sends[page].tell(value)
            await self._rung(self._sends[page])


def doorbells(ni: Ni, central: Central) -> list[Doorbells]:
    """The kernel's central queue, and with a FIFO in hardware that."""
    return [Fifo(ni, hardware_bells(ni.nic, ni.layout.bells)), central] if ni.options.doorbell == "hw" else [central]


def polled(ni: Ni) -> Polled | None:
    """The words of the processes, where the NIC polls them."""
    return Polled(ni) if ni.options.polled else None


class Turns:
    """Queue caches with something in them, one after the other."""

    def __init__(self) -> None:
        self._waiting: deque[QueueCache] = deque()

    def add(self, cache: QueueCache) -> None:
        """It has something; once is enough."""
        if cache not in self._waiting:
            self._waiting.append(cache)

    def remove(self, cache: QueueCache) -> None:
        """It waits no longer."""
        if cache in self._waiting:
            self._waiting.remove(cache)

    def next(self) -> QueueCache | None:
        """The one whose turn it is, and which goes behind the others."""
        while self._waiting:
            cache = self._waiting.popleft()
            if cache.ready >= cache.least:
                self._waiting.append(cache)
                return cache
        return None
