"""Refill of queue caches that run low: the host is interrupted, and writes more descriptors (paper 001, 3.2.2).

The kernel sets the flag of a queue cache to 1 while descriptors wait at the host. The firmware sets it to `ASKED` when
it raises the interrupt. After each refill the kernel increments a word. A packet that needs a descriptor waits for that
word, and later packets wait in the network.
"""

from __future__ import annotations

from firmware.verbs import Watch
from firmware.via.nic.kernel_wait import KernelWait
from firmware.via.nic.layout import ASKED, CONTROL_WORDS, PAGE_WORDS, QUEUED, Counter, Word
from firmware.via.nic.ni import Ni
from firmware.via.nic.queue_cache import QueueCache


class Refill:
    """Requests for refills, and waits for them."""

    def __init__(self, ni: Ni) -> None:
        self._ni, self._nic, self._port = ni, ni.nic, ni.port
        self._low = ni.options.low_water * (CONTROL_WORDS + PAGE_WORDS)
        self._refills = KernelWait(ni, Watch(Word.REFILLS, 0, "look_refill"))

    async def look(self, cache: QueueCache) -> None:
        """Request a refill if the cache is below the low-water mark and descriptors wait at the host."""
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
        """Return True if the cache has a descriptor, waiting for a refill if some are at the host."""
        while cache.ready < cache.least:
            if not (cache.flag and self._nic.load(cache.flag)):
                return False
            await self._wait(cache)
        return True

    async def words(self, cache: QueueCache, count: int) -> None:
        """Wait until `count` words of a descriptor are available."""
        while cache.ready < count:
            cache.free()
            await self._wait(cache)

    async def _wait(self, cache: QueueCache) -> None:
        """Spin until the kernel has refilled a cache."""
        self._ni.count(Counter.STALLED)
        seen = self._refills.now
        if self._nic.load(cache.flag) == QUEUED:
            await self._ask(cache.flag)
        await self._refills.change(seen)
