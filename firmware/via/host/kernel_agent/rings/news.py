"""Counter of the kernel's writes, for a NIC that polls the words of processes."""

from __future__ import annotations

from firmware.common.host.words import store_words
from firmware.verbs import Host
from firmware.via.nic.layout import Word


class NewsWord:
    """Counter in the NIC's memory."""

    def __init__(self, host: Host) -> None:
        self._host, self._count = host, 0

    async def increment(self) -> None:
        """Increment the counter after a write."""
        self._count = self._count + 1 & 0xFFFFFFFF
        await store_words(self._host, Word.NEWS, self._count)
