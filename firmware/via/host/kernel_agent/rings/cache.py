"""A queue cache in the NIC's memory as the kernel fills it, and the descriptors that wait for room in it (paper
001, 3.2.2): what was posted earlier goes in earlier.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from firmware.common.host.words import store_words
from firmware.verbs import Host
from firmware.via.nic.layout import QUEUED

MASK = 0xFFFFFFFF


@dataclass
class Entry:
    """A physical descriptor on its way: what of it is not written, and where it ends when it is."""

    head: tuple[int, ...]
    """Words that are written at once."""
    pages: tuple[tuple[int, int], ...]
    """(physical address, bytes) of each page: written as there is room."""
    end: int | None = None
    """The cache's tail behind it."""


News = Callable[[], Awaitable[None]]


class Cache:
    """A ring of words: `tail` counts what was written, `head` what the NIC no longer needs, as far as is known."""

    def __init__(
        self, host: Host, base: int, words: int, counters: tuple[int, int], flag: int, news: News | None = None
    ) -> None:
        """`base`, the `counters` tail and head, and the `flag` of what waits here: addresses in the NIC's memory.
        `news`: done behind each new tail.
        """
        self._news = news
        self._host, self._base, self._size = host, base, words
        self._tail_at, self._head_at = counters
        self._flag = flag
        self.tail = self.head = 0
        self.waiting: deque[Entry] = deque()
        self.flagged = False
        """The NIC believes that descriptors wait here."""

    async def post(self, entry: Entry) -> None:
        """Write a descriptor behind those posted before, or leave it in the queue here."""
        self.waiting.append(entry)
        await self.fill()
        if self.waiting and not self.flagged:
            await self.flag()

    async def fill(self) -> bool:
        """Write as many of those that wait as there is room for; whether any was written."""
        written = False
        while self.waiting:
            entry = self.waiting[0]
            pages = await self._room(len(entry.head), len(entry.pages))
            if pages < 0:
                break
            words = entry.head + tuple(word for page in entry.pages[:pages] for word in page)
            whole = pages == len(entry.pages)
            if whole:
                self.waiting.popleft()  # at once: from here on it is the NIC's
            else:
                entry.head, entry.pages = (), entry.pages[pages:]
            await self._write(words)
            written = True
            if not whole:
                break
            entry.end = self.tail
        return written

    async def _room(self, head: int, pages: int) -> int:
        """How many of so many pages fit, behind `head` words; -1: none. Only a long list is written in parts."""
        need = head + 2 * pages
        if self._free < need:
            await self.look()
        if self._free >= need:
            return pages
        fit = (self._free - head) // 2
        return fit if need > self._size // 2 and fit > 0 else -1

    @property
    def _free(self) -> int:
        return self._size - (self.tail - self.head & MASK)

    async def look(self) -> None:
        """Read the NIC's counter."""
        self.head = await self._host.pio_read(self._host.nic_base + self._head_at)

    async def _write(self, words: tuple[int, ...]) -> None:
        """Words, and then the tail that makes them known."""
        first = self.tail % self._size
        part = min(len(words), self._size - first)
        await store_words(self._host, self._base + 4 * first, *words[:part])
        if part < len(words):
            await store_words(self._host, self._base, *words[part:])
        self.tail = self.tail + len(words) & MASK
        await store_words(self._host, self._tail_at, self.tail)
        if self._news is not None:
            await self._news()

    async def flag(self) -> None:
        """Tell the NIC whether anything waits here."""
        self.flagged = bool(self.waiting)
        await store_words(self._host, self._flag, QUEUED if self.waiting else 0)

    def done(self, entry: Entry) -> bool:
        """Whether the NIC no longer needs a descriptor, as far as is known."""
        return entry.end is not None and (self.head - entry.end & MASK) < 1 << 31

    async def append(self, word: int) -> int:
        """One word, when there is room for it; the tail behind it."""
        while not self._free:
            await self.look()
        await self._write((word,))
        return self.tail

    async def passed(self, tail: int) -> None:
        """Wait until the NIC has dealt with everything before a tail."""
        while self.head - tail & MASK >= 1 << 31:
            await self.look()
