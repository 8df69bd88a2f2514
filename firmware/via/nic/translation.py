"""Translation from virtual to physical addresses on the NIC, by tables of registered regions (paper 001, 2.2.3).

AT2: the tables are in the NIC's memory. AT3: they are in host memory, and the NIC caches entries, `translation_entries`
in sets of `translation_ways` (1: direct-mapped) with LRU replacement. Flat: no tables, because a region is contiguous
in physical memory.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Protocol

from firmware.via.formats import Status
from firmware.via.nic.descriptors import Refused
from firmware.via.nic.layout import Counter
from firmware.via.nic.layout import Region as At
from firmware.via.nic.ni import Ni
from firmware.via.nic.user_pages import PAGE


class Frames(Protocol):
    """Lookup of page frames of a region."""

    async def frame(self, region: int, handle: int, page: int) -> int:
        """Return the physical address of a page.

        Args:
            region: SRAM address of the region's words.
            handle: Memory handle of the region.
            page: Index of the page in the region.
        """


class Flat:
    """Translation without tables: a region is contiguous in physical memory."""

    def __init__(self, ni: Ni) -> None:
        self._nic = ni.nic

    async def frame(self, region: int, handle: int, page: int) -> int:
        """Return the physical address of a page, computed from the region's first."""
        await self._nic.work("translate_flat")
        return self._nic.load(region + At.TABLE) + PAGE * page


class OnNic:
    """Translation AT2: tables in the NIC's memory."""

    def __init__(self, ni: Ni) -> None:
        self._nic = ni.nic

    async def frame(self, region: int, handle: int, page: int) -> int:
        """Return the physical address of a page, loaded from SRAM."""
        await self._nic.work("translate_on_nic")
        return self._nic.load(self._nic.load(region + At.TABLE) + 4 * page)


class InHost:
    """Translation AT3: tables in host memory, and a cache on the NIC."""

    def __init__(self, ni: Ni) -> None:
        self._ni, self._nic, self._port = ni, ni.nic, ni.port
        self._ways = ni.options.translation_ways
        self._sets: list[dict[tuple[int, int], int]] = [{} for _ in range(ni.options.translation_entries // self._ways)]
        """Frames by (handle, page), one dictionary for each set, most recently used last."""

    async def frame(self, region: int, handle: int, page: int) -> int:
        """Return the physical address of a page from the cache, or from the host table by DMA."""
        entries, key = self._sets[(handle + page) % len(self._sets)], (handle, page)
        await self._nic.work_on("translate_set")
        known = entries.pop(key, None)
        if known is None:
            await self._nic.work("translate_miss")
            self._ni.count(Counter.MISSES)
            (known,) = await self._port.read(self._nic.load(region + At.TABLE) + 4 * page, 1)
            if len(entries) == self._ways:
                del entries[next(iter(entries))]
        else:
            await self._nic.work_on("translate_hit", self._ways)
            self._ni.count(Counter.HITS)
        entries[key] = known
        return known


class ByDma:
    """Translation by a DMA read of the host table for each page, without a cache."""

    def __init__(self, ni: Ni) -> None:
        self._nic, self._port = ni.nic, ni.port

    async def frame(self, region: int, handle: int, page: int) -> int:
        """Return the physical address of a page, read from host memory."""
        await self._nic.work("write_look_up")
        (frame,) = await self._port.read(self._nic.load(region + At.TABLE) + 4 * page, 1)
        return frame


def frames(ni: Ni) -> Frames:
    """Return the translation of the option. With at1 only RDMA writes by table lookup use it."""
    known: dict[str, Callable[[Ni], Frames]] = {"at1": ByDma, "at2": OnNic, "at3": InHost, "flat": Flat}
    return known[ni.options.translation](ni)


class Translator:
    """Checks and translation of ranges of registered memory.

    Each user (a queue cache, a side of a VI) has a cached region: the one it used last, with its tag. The cached check
    is valid until memory is deregistered.
    """

    def __init__(self, ni: Ni, table: Frames) -> None:
        self._ni, self._nic, self._layout = ni, ni.nic, ni.layout
        self._frames = table
        self._known: dict[Hashable, tuple[int, int, int]] = {}
        """Handle, tag and count of deregistrations at the last check, by user."""

    async def find(self, user: Hashable, va: int, handle: int, size: int, tag: int) -> int:
        """Return the SRAM address of the region that holds a range, registered under a tag. Raises Refused."""
        known = handle, tag, self._ni.fenced
        if self._known.get(user) != known:
            await self._nic.work("user_region")
            self._known[user] = known
        if not self._layout.has_region(handle):
            raise Refused(Status.PROTECTION_ERROR)
        region = self._layout.region(handle)
        its, begin, length, its_tag = self._nic.load_words(region, 4)
        if its != handle or its_tag != tag or va < begin or va + size > begin + length:
            raise Refused(Status.PROTECTION_ERROR)
        return region

    async def frame(self, region: int, va: int, handle: int) -> int:
        """Return the physical address of a byte in a region that `find` has returned."""
        page = va // PAGE - self._nic.load(region + At.VA) // PAGE
        return await self._frames.frame(region, handle, page) + va % PAGE

    def behind(self, va: int, handle: int) -> int:
        """Return the number of bytes from an address to the end of its region."""
        begin, length = self._nic.load_words(self._layout.region(handle) + At.VA, 2)
        return begin + length - va

    async def piece(self, user: Hashable, va: int, handle: int, size: int, tag: int) -> tuple[int, int]:
        """Return the physical address of a range's start, and its bytes in that page. Raises Refused."""
        region = await self.find(user, va, handle, size, tag)
        return await self.frame(region, va, handle), min(size, PAGE - va % PAGE)
