"""The translation cache: from virtual addresses of registered memory to pieces of physical memory (paper 000, 4.5.2).

Two regions of entries in SRAM, both written by the host. Static ones stand for contiguous regions; a bit map beside
each tells which of its granules are given out, so that a write beyond a block meets an error and not its neighbour
(the map is ours). Run-time ones are the driver's answers to misses: a block and the list of its pieces. An answer
replaces the entry that is oldest (ours).
"""

from __future__ import annotations

from firmware.grim.formats import Cause
from firmware.grim.nic.layout import Counter
from firmware.grim.nic.ni import Ni
from firmware.grim.nic.remote_memory.entries import GRANULE, MAP_BYTES, Runtime, Static

Pieces = list[tuple[int, int]]
"""(physical address, bytes), in order."""


class Translation:
    """The NI's view of the cache."""

    def __init__(self, ni: Ni) -> None:
        self._ni, self._nic, self._layout = ni, ni.nic, ni.layout
        self._victim = 0

    def victim(self) -> int:
        """The run-time entry that the next answer takes."""
        entry = self._victim
        self._victim = (entry + 1) % self._ni.options.translation_runtime
        return entry

    def answer(self, entry: int) -> tuple[int, Cause | None]:
        """What the driver wrote into an entry: the request's number, and why it refuses."""
        word = self._nic.load(self._layout.runtime + self._layout.runtime_bytes * entry + Runtime.ANSWER)
        return word >> 16, Cause(word & 0xFFFF) if word & 0xFFFF else None

    async def look_up(self, va: int, size: int, whole: int) -> Pieces | Cause | None:
        """The pieces of `size` bytes at a virtual address; a Cause when `whole` bytes from there on are not one block;
        None: a miss.
        """
        for entry in range(self._ni.options.translation_static):
            begin, bytes_, pa = self._nic.load_words(self._layout.static + Static.BYTES * entry, 3)
            if 0 <= va - begin < bytes_:
                await self._nic.work("translate_static", entry + 1)
                self._ni.count(Counter.HITS_STATIC)
                return await self._given_out(entry, va - begin, whole, bytes_) or [(pa + va - begin, size)]
        await self._nic.work("translate_static", self._ni.options.translation_static)
        return await self._run_time(va, size, whole)

    async def _given_out(self, entry: int, offset: int, size: int, bytes_: int) -> Cause | None:
        """Whether a range of a static entry is one block that is given out."""
        first, last = offset // GRANULE, (offset + size - 1) // GRANULE
        await self._nic.work("translate_map", last // 32 - first // 32 + 1)
        if offset + size > bytes_:
            return Cause.BEYOND
        words = self._layout.maps + MAP_BYTES * entry
        for granule in range(first, last + 1):
            if not self._nic.load(words + 4 * (granule // 32)) >> granule % 32 & 1:
                return Cause.NOT_REGISTERED if granule == first else Cause.BEYOND
        return None

    async def _run_time(self, va: int, size: int, whole: int) -> Pieces | Cause | None:
        count = self._ni.options.translation_runtime
        for entry in range(count):
            at = self._layout.runtime + self._layout.runtime_bytes * entry
            begin, bytes_, pieces, _, end = self._nic.load_words(at, 5)
            if begin <= va and va + size <= begin + bytes_:
                await self._nic.work("translate_block", entry + 1)
                if va + whole > end:
                    return Cause.BEYOND
                self._ni.count(Counter.HITS_RUNTIME)
                return await self._cut(at, va - begin, size, pieces)
        await self._nic.work("translate_block", count)
        return None

    async def _cut(self, at: int, skip: int, size: int, count: int) -> Pieces:
        """The part of an entry's list that begins `skip` bytes behind its start."""
        found: Pieces = []
        words = self._nic.load_words(at + Runtime.PIECES, 2 * count)
        walked = 0
        for pa, bytes_ in zip(words[::2], words[1::2], strict=True):
            walked += 1
            if skip >= bytes_:
                skip -= bytes_
                continue
            part = min(bytes_ - skip, size)
            found.append((pa + skip, part))
            skip, size = 0, size - part
            if not size:
                break
        await self._nic.work("translate_piece", walked)
        return found
