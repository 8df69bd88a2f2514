"""Refills of queue caches: waiting descriptors are written when the NIC has room (paper 001, 3.2.2)."""

from __future__ import annotations

from firmware.common.host.words import store_words
from firmware.via.host.kernel_agent.vis.table import ViTable
from firmware.via.nic.layout import Word


class Refill:
    """Refills of the queue caches of one NIC."""

    def __init__(self, vis: ViTable) -> None:
        self._shared, self._vis, self._count = vis.shared, vis, 0

    async def run(self) -> None:
        """Fill the flagged queue caches with waiting descriptors while there is room."""
        shared = self._shared
        low = [cache for cache in (shared.sends, *(vi.receives for vi in self._vis.contexts)) if cache.flagged]
        if not low:
            return
        async with shared.lock:
            for cache in low:
                await shared.host.spend("refill_cache")
                await cache.fill()
                await cache.flag()
            self._count += 1
            await store_words(shared.host, Word.REFILLS, self._count & 0xFFFFFFFF)
