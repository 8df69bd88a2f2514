"""Queue caches that run low: the host is interrupted, and writes more descriptors (paper 001, 3.2.2).

The flag beside a queue cache is written 1 by the kernel when descriptors wait at the host, and ASKED here when the
interrupt is on its way. After each refill the kernel counts up a word, on which a packet that cannot wait any longer
waits; until then packets wait in the network.
"""

from __future__ import annotations

from firmware.verbs import Watch
from firmware.via.nic.kernel_wait import KernelWait
from firmware.via.nic.layout import ASKED, CONTROL_WORDS, PAGE_WORDS, QUEUED, Counter, Word
from firmware.via.nic.ni import Ni
from firmware.via.nic.queue_cache import QueueCache


class Refill:
    """Asks for refills, and waits for them."""

    def __init__(self, ni: Ni) -> None:
        self._ni, self._nic, self._port = ni, ni.nic, ni.port
        self._low = ni.options.low_water * (CONTROL_WORDS + PAGE_WORDS)
        self._refills = KernelWait(ni, Watch(Word.REFILLS, 0, "look_refill"))

    async def look(self, cache: QueueCache) -> None:
        """A descriptor was used: is the cache below the mark, and more at the host?"""
        if not cache.flag:
            return
        await self._nic.caught_up()
        if self._nic.load(cache.flag) == QUEUED and cache.ready < max(self._low, 1):
            await self._ask(cache.flag)

    async def _ask(self, flag: int) -> None:
        await self._nic.work("ask_refill")
        self._nic.store(flag, ASKED)
        await self._port.interrupt()

    async def descriptor(self, cache: QueueCache) -> bool:
        """Whether there is a descriptor, in the cache or, after a refill, from the host."""
        while cache.ready < cache.least:
            if not (cache.flag and self._nic.load(cache.flag)):
                return False
            await self._wait(cache)
        return True

    async def words(self, cache: QueueCache, count: int) -> None:
        """Wait until so many words of a descriptor are there."""
        while cache.ready < count:
            cache.free()
            await self._wait(cache)

    async def _wait(self, cache: QueueCache) -> None:
        """Spin until the kernel has refilled some cache."""
        self._ni.count(Counter.STALLED)
        seen = self._refills.now
        if self._nic.load(cache.flag) == QUEUED:
            await self._ask(cache.flag)
        await self._refills.change(seen)
