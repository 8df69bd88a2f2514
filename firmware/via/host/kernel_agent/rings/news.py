"""Where the NIC polls the words of processes, one word tells it of all that the kernel writes."""

from __future__ import annotations

from firmware.common.host.words import store_words
from firmware.verbs import Host
from firmware.via.nic.layout import Word


class NewsWord:
    """It counts up."""

    def __init__(self, host: Host) -> None:
        self._host, self._told = host, 0

    async def tell(self) -> None:
        """Something is written."""
        self._told = self._told + 1 & 0xFFFFFFFF
        await store_words(self._host, Word.NEWS, self._told)
