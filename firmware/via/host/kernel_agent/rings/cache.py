"""Queue cache in the NIC's memory, as the kernel fills it, and the descriptors that wait for room in it.

Descriptors are written in the order of posting (paper 001, 3.2.2).
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
    """Physical descriptor, with its unwritten parts and its end in the cache."""

    head: tuple[int, ...]
    """Words that are written together."""
    pages: tuple[tuple[int, int], ...]
    """Physical address and size of each page, written as room becomes available."""
    end: int | None = None
    """Tail of the cache after the descriptor, or None if it is not yet written."""


News = Callable[[], Awaitable[None]]


class Cache:
    """Ring of words: `tail` counts written words, `head` the words that the NIC has freed as of the last read."""

    def __init__(
        self, host: Host, base: int, words: int, counters: tuple[int, int], flag: int, news: News | None = None
    ) -> None:
        """Create a cache.

        Args:
            host: Host of the kernel agent.
            base: SRAM address of the ring.
            words: Size of the ring.
            counters: SRAM addresses of tail and head.
            flag: SRAM address of the flag for descriptors that wait at the host.
            news: Called after each update of the tail.
        """
        self._news = news
        self._host, self._base, self._size = host, base, words
        self._tail_at, self._head_at = counters
        self._flag = flag
        self.tail = self.head = 0
        self.waiting: deque[Entry] = deque()
        self.flagged = False
        """True if the flag in the NIC's memory is set."""

    async def post(self, entry: Entry) -> None:
        """Write a descriptor after those posted before, or keep it in the waiting list."""
        self.waiting.append(entry)
        await self.fill()
        if self.waiting and not self.flagged:
            await self.flag()

    async def fill(self) -> bool:
        """Write waiting descriptors while there is room. Return True if any was written."""
        written = False
        while self.waiting:
            entry = self.waiting[0]
            pages = await self._room(len(entry.head), len(entry.pages))
            if pages < 0:
                break
            words = entry.head + tuple(word for page in entry.pages[:pages] for word in page)
            whole = pages == len(entry.pages)
            if whole:
                self.waiting.popleft()  # before the write, which hands it to the NIC
            else:
                entry.head, entry.pages = (), entry.pages[pages:]
            await self._write(words)
            written = True
            if not whole:
                break
            entry.end = self.tail
        return written

    async def _room(self, head: int, pages: int) -> int:
        """Return how many of `pages` pages fit after `head` words, or -1. Only a long list is written in parts."""
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
        """Write words, then the tail."""
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
        """Set or clear the flag for waiting descriptors in the NIC's memory."""
        self.flagged = bool(self.waiting)
        await store_words(self._host, self._flag, QUEUED if self.waiting else 0)

    def done(self, entry: Entry) -> bool:
        """Return True if the NIC has freed a descriptor, as of the last read of its counter."""
        return entry.end is not None and (self.head - entry.end & MASK) < 1 << 31

    async def append(self, word: int) -> int:
        """Write one word, waiting for room, and return the new tail."""
        while not self._free:
            await self.look()
        await self._write((word,))
        return self.tail

    async def passed(self, tail: int) -> None:
        """Wait until the NIC has freed all words before a tail."""
        while self.head - tail & MASK >= 1 << 31:
            await self.look()
