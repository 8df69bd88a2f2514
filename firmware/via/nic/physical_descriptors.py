"""Physical descriptors, checked and translated by the host's kernel (paper 001, 3.2.2; `layout.py`)."""

from __future__ import annotations

import struct

from firmware.via.formats import Status
from firmware.via.nic.descriptors import RIGHT, Meanwhile, Work
from firmware.via.nic.layout import CONTROL_WORDS, PAGE_WORDS, Control, Kind
from firmware.via.nic.ni import Ni
from firmware.via.nic.queue_cache import QueueCache
from firmware.via.nic.refill import Refill


class CachedPages:
    """Page list in a queue cache. The kernel adds the rest of a longer list in parts."""

    def __init__(self, ni: Ni, refill: Refill, cache: QueueCache, entries: int, wait: bool) -> None:
        """Create a list of `entries` pages; with `wait`, `take` waits for the next entry."""
        self._nic, self._refill, self._cache = ni.nic, refill, cache
        self._entries, self._wait = entries, wait
        self.whole = True

    def more(self) -> bool:
        """Return True if entries are left."""
        return self._entries > 0

    async def take(self) -> tuple[int, int] | None:
        """Return the next entry. Entries of a list that is longer than the cache are freed after use."""
        cache = self._cache
        await self._nic.caught_up()
        if cache.ready < PAGE_WORDS:
            if not self._wait:
                cache.free()
                await self._refill.look(cache)
                return None
            await self._refill.words(cache, PAGE_WORDS)
            self.whole = False
        await self._nic.work("receive_page" if self._wait else "send_page")
        self._next()
        address, size = cache.take(PAGE_WORDS)
        return address, size

    def _next(self) -> None:
        self._entries -= 1
        if self._cache.crowded:
            self._cache.free()
            self.whole = False

    def untake(self, left: int) -> bool:
        """Return False: the kernel keeps memory that its descriptors name."""
        return False

    def again(self) -> None:
        """Do nothing: the queue cache itself is read again."""

    async def skip(self) -> None:
        """Read and discard the remaining entries."""
        await self._nic.caught_up()
        while self._entries:
            await self._refill.words(self._cache, PAGE_WORDS)
            self._next()
            self._cache.take(PAGE_WORDS)


class KeptPages:
    """Page list in the NIC's own memory."""

    whole = True

    def __init__(self, pages: list[tuple[int, int]]) -> None:
        self._pages = pages[::-1]

    def more(self) -> bool:
        """Return True if entries are left."""
        return bool(self._pages)

    async def take(self) -> tuple[int, int] | None:
        """Return the next entry."""
        return self._pages.pop()

    def untake(self, left: int) -> bool:
        """Return False: the kernel keeps memory that its descriptors name."""
        return False

    def again(self) -> None:
        """Do nothing: a kept list is not read again."""

    async def skip(self) -> None:
        """Discard the remaining entries."""
        self._pages.clear()


class PhysicalDescriptors:
    """Reader of physical descriptors."""

    def __init__(self, ni: Ni, refill: Refill) -> None:
        self._ni, self._nic, self._refill = ni, ni.nic, refill

    async def send(self, cache: QueueCache) -> Work:
        """Return the descriptor at the head of a send queue cache."""
        await self._nic.work("send_begin")
        first, descriptor, length = cache.take(CONTROL_WORDS)
        control = Control.decode(first)
        pages = CachedPages(self._ni, self._refill, cache, control.entries, wait=False)
        work = Work(Kind(control.kind), control.vi, descriptor, length, pages)
        if control.refused:
            work.status, work.length = Status(length), 0
            return work
        if not control.vi:
            work.node, work.length = length >> 16, length & 0xFFFF
        if work.kind in (Kind.WRITE, Kind.READ):
            await self._nic.work("send_write")
            work.target = struct.pack(">2I", *cache.take(2))
        if work.kind == Kind.READ:
            work.into = await self._keep(CachedPages(self._ni, self._refill, cache, control.entries, wait=True))
            work.pages = KeptPages([])
        if control.immediate:
            work.immediate = struct.pack(">I", *cache.take(1))
        if control.inline:
            await self._nic.work("send_inline")
            count = -(-length // 4)
            if count > 2:
                await self._nic.work("send_inline_word", count - 2)
            work.inline = struct.pack(f">{count}I", *cache.take(count))[:length]
        return work

    async def _keep(self, pages: CachedPages) -> KeptPages:
        """Copy the pages of an RDMA read, whose data arrive after the queue cache has advanced."""
        kept: list[tuple[int, int]] = []
        while pages.more():
            page = await pages.take()
            assert page is not None  # because wait=True
            await self._nic.work("read_page")
            kept.append(page)
        return KeptPages(kept)

    async def receive(self, cache: QueueCache, meanwhile: Meanwhile | None = None) -> Work:
        """Return the descriptor at the head of a receive queue cache. No DMA is needed, so `meanwhile` is not run."""
        await self._nic.work("receive_begin")
        first, descriptor, length = cache.take(CONTROL_WORDS)
        control = Control.decode(first)
        pages = CachedPages(self._ni, self._refill, cache, control.entries, wait=True)
        status = Status(length) if control.refused else RIGHT
        return Work(Kind.RECEIVE, control.vi, descriptor, length, pages, status=status)
