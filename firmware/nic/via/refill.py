"""Queue caches that run low: the host is interrupted, and writes more descriptors (paper 001, 3.2.2).

The flag beside a queue cache is written 1 by the kernel when descriptors wait at the host, and ASKED here when the
interrupt is on its way. After each refill the kernel counts up a word, on which a packet that cannot wait any longer
waits; until then packets wait in the network.
"""

from __future__ import annotations

from firmware.nic.hardware import Service
from firmware.nic.via.incoming import Incoming
from firmware.nic.via.layout import ASKED, CONTROL_WORDS, PAGE_WORDS, QUEUED, Counter, Vi, Word
from firmware.nic.via.ni import Endpoint, Ni
from firmware.nic.via.ring import Ring
from firmware.verbs import PollLoop, Watch


class Refill:
    """Asks for refills, and waits for them."""

    def __init__(self, ni: Ni) -> None:
        self._ni, self._nic, self._port = ni, ni.nic, ni.port
        self._low = ni.options.low_water * (CONTROL_WORDS + PAGE_WORDS)
        self._loop: PollLoop
        self._meanwhile: list[Service] = []

    def start(self) -> None:
        """Make the loop that waits for a refill; the port's services are known."""
        self._meanwhile = self._port.background()
        watches = [Watch(Word.REFILLS, 0, "look_refill"), *(watch for watch, _ in self._meanwhile)]
        self._loop = self._nic.poll_loop(watches)

    async def look(self, endpoint: Endpoint) -> None:
        """A receive descriptor was used: is the cache below the mark, and more at the host?"""
        await self._look(endpoint.receives, endpoint.words + Vi.QUEUED)

    async def look_sends(self, ring: Ring) -> None:
        """The same for the send queue."""
        await self._look(ring, Word.SEND_QUEUED)

    async def _look(self, ring: Ring, flag: int) -> None:
        if self._nic.load(flag) == QUEUED and ring.ready < max(self._low, 1):
            await self._ask(flag)

    async def _ask(self, flag: int) -> None:
        await self._nic.work("ask_refill")
        self._nic.store(flag, ASKED)
        await self._port.interrupt()

    async def descriptor(self, endpoint: Endpoint) -> bool:
        """Whether there is a receive descriptor, in the cache or, after a refill, from the host."""
        while endpoint.receives.ready < CONTROL_WORDS:
            if not self._nic.load(endpoint.words + Vi.QUEUED):
                return False
            await self._wait(endpoint)
        return True

    async def words(self, endpoint: Endpoint, count: int) -> None:
        """Wait until so many words of a descriptor are there."""
        while endpoint.receives.ready < count:
            await self._wait(endpoint)

    async def send_words(self, ring: Ring, count: int) -> None:
        """The same of the send queue."""
        while ring.ready < count:
            ring.free()
            await self._spin(Word.SEND_QUEUED)

    async def skip(self, endpoint: Endpoint, message: Incoming) -> None:
        """Pass over what of a message's list is not needed."""
        while message.entries:
            await self.words(endpoint, PAGE_WORDS)
            message.skip(1)

    async def _wait(self, endpoint: Endpoint) -> None:
        self._ni.count(Counter.STALLED)
        await self._spin(endpoint.words + Vi.QUEUED)

    async def _spin(self, flag: int) -> None:
        """Spin until the kernel has refilled some cache."""
        seen = self._nic.load(Word.REFILLS)
        if self._nic.load(flag) == QUEUED:
            await self._ask(flag)
        self._loop.expect(0, seen)
        while hit := await self._loop.run():
            await self._meanwhile[hit - 1][1]()
