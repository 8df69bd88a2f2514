"""Queue caches that run low: the host is interrupted, and writes more descriptors (paper 001, 3.2.2).

The flag beside a queue cache is written 1 by the kernel when descriptors wait at the host, and ASKED here when the
interrupt is on its way. After each refill the kernel counts up a word, on which a packet that cannot wait any longer
waits; until then packets wait in the network.
"""

from __future__ import annotations

from firmware.nic.via.awaited import Awaited
from firmware.nic.via.layout import ASKED, CONTROL_WORDS, PAGE_WORDS, QUEUED, Counter, Word
from firmware.nic.via.ni import Ni
from firmware.nic.via.ring import Ring
from firmware.verbs import Watch


class Refill:
    """Asks for refills, and waits for them."""

    def __init__(self, ni: Ni) -> None:
        self._ni, self._nic, self._port = ni, ni.nic, ni.port
        self._low = ni.options.low_water * (CONTROL_WORDS + PAGE_WORDS)
        self._refills = Awaited(ni, Watch(Word.REFILLS, 0, "look_refill"))

    def start(self) -> None:
        """The port's services are known."""
        self._refills.start()

    async def look(self, ring: Ring) -> None:
        """A descriptor was used: is the cache below the mark, and more at the host?"""
        if ring.flag and self._nic.load(ring.flag) == QUEUED and ring.ready < max(self._low, 1):
            await self._ask(ring.flag)

    async def _ask(self, flag: int) -> None:
        await self._nic.work("ask_refill")
        self._nic.store(flag, ASKED)
        await self._port.interrupt()

    async def descriptor(self, ring: Ring) -> bool:
        """Whether there is a descriptor, in the cache or, after a refill, from the host."""
        while ring.ready < ring.least:
            if not (ring.flag and self._nic.load(ring.flag)):
                return False
            await self._wait(ring)
        return True

    async def words(self, ring: Ring, count: int) -> None:
        """Wait until so many words of a descriptor are there."""
        while ring.ready < count:
            ring.free()
            await self._wait(ring)

    async def _wait(self, ring: Ring) -> None:
        """Spin until the kernel has refilled some cache."""
        self._ni.count(Counter.STALLED)
        seen = self._refills.now
        if self._nic.load(ring.flag) == QUEUED:
            await self._ask(ring.flag)
        await self._refills.change(seen)
