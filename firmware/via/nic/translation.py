"""From virtual to physical addresses on the NIC, by the tables of registered regions (paper 001, 2.2.3).

AT2: the tables stand in the NIC's memory. AT3: they stand in host memory, and the NIC keeps the entries that it used
last in a cache: `translation_entries` in sets of `translation_ways` (1: direct-mapped); in a set the one that was not
used for the longest time gives way. Flat: there are none, a region is contiguous in physical memory.
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
    """Where the table of a region is looked up."""

    async def frame(self, region: int, handle: int, page: int) -> int:
        """Physical address of a page of a region: SRAM address of the region's words, its handle, index of the page."""


class Flat:
    """No table: a region is contiguous in physical memory."""

    def __init__(self, ni: Ni) -> None:
        self._nic = ni.nic

    async def frame(self, region: int, handle: int, page: int) -> int:
        """Where it begins, and so many pages on."""
        await self._nic.work("translate_flat")
        return self._nic.load(region + At.TABLE) + PAGE * page


class OnNic:
    """AT2."""

    def __init__(self, ni: Ni) -> None:
        self._nic = ni.nic

    async def frame(self, region: int, handle: int, page: int) -> int:
        """A load."""
        await self._nic.work("translate_on_nic")
        return self._nic.load(self._nic.load(region + At.TABLE) + 4 * page)


class InHost:
    """AT3."""

    def __init__(self, ni: Ni) -> None:
        self._ni, self._nic, self._port = ni, ni.nic, ni.port
        self._ways = ni.options.translation_ways
        self._sets: list[dict[tuple[int, int], int]] = [{} for _ in range(ni.options.translation_entries // self._ways)]
        """Frames by (handle, page), of each set, the one used last at the end."""

    async def frame(self, region: int, handle: int, page: int) -> int:
        """From the cache, or by DMA out of the table."""
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
    """Every time by DMA out of the table in host memory."""

    def __init__(self, ni: Ni) -> None:
        self._nic, self._port = ni.nic, ni.port

    async def frame(self, region: int, handle: int, page: int) -> int:
        """A word of host memory."""
        await self._nic.work("write_look_up")
        (frame,) = await self._port.read(self._nic.load(region + At.TABLE) + 4 * page, 1)
        return frame


def frames(ni: Ni) -> Frames:
    """As the option says; with at1 only RDMA writes by look-up need it."""
    known: dict[str, Callable[[Ni], Frames]] = {"at1": ByDma, "at2": OnNic, "at3": InHost, "flat": Flat}
    return known[ni.options.translation](ni)


class Translator:
    """Checks and translates ranges of registered memory.

    Whoever uses it is known by a `user` (a queue cache, a side of a VI): the region that one named last is remembered,
    with its tag, until memory is taken back, and is not looked at again.
    """

    def __init__(self, ni: Ni, table: Frames) -> None:
        self._ni, self._nic, self._layout = ni, ni.nic, ni.layout
        self._frames = table
        self._known: dict[Hashable, tuple[int, int, int]] = {}
        """By user: handle, tag, and how often memory had been taken back."""

    async def find(self, user: Hashable, va: int, handle: int, size: int, tag: int) -> int:
        """SRAM address of the region that holds a range, registered under a tag. Raises Refused."""
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
        """Physical address of a byte of a region that was found."""
        page = va // PAGE - self._nic.load(region + At.VA) // PAGE
        return await self._frames.frame(region, handle, page) + va % PAGE

    def behind(self, va: int, handle: int) -> int:
        """How much of a region that was found stands from an address on."""
        begin, length = self._nic.load_words(self._layout.region(handle) + At.VA, 2)
        return begin + length - va

    async def piece(self, user: Hashable, va: int, handle: int, size: int, tag: int) -> tuple[int, int]:
        """Physical address of the start of a range, and how much of it stands in its page. Raises Refused."""
        region = await self.find(user, va, handle, size, tag)
        return await self.frame(region, va, handle), min(size, PAGE - va % PAGE)
