"""Translation cache: virtual addresses of registered memory to pieces of physical memory (paper 000, 4.5.2).

The cache has two regions of entries in SRAM, both written by the host. Static entries map contiguous regions. A bit map
for each of them shows which granules are allocated (the map is ours). So a write beyond a block fails instead of
damaging the next block. Run-time entries are the driver's answers to misses: a block and the list of its pieces. An
answer replaces the oldest entry (ours).
"""

from __future__ import annotations

from firmware.grim.formats import Cause
from firmware.grim.nic.layout import Counter
from firmware.grim.nic.ni import Ni
from firmware.grim.nic.remote_memory.entries import GRANULE, MAP_BYTES, Runtime, Static

Pieces = list[tuple[int, int]]
"""Physical address and bytes of each piece, in order."""


class Translation:
    """Lookups in the translation cache of one NI."""

    def __init__(self, ni: Ni) -> None:
        self._ni, self._nic, self._layout = ni, ni.nic, ni.layout
        self._victim = 0

    def victim(self) -> int:
        """Return the run-time entry that the next answer replaces."""
        entry = self._victim
        self._victim = (entry + 1) % self._ni.options.translation_runtime
        return entry

    def answer(self, entry: int) -> tuple[int, Cause | None]:
        """Return the driver's answer in an entry: the number of the request, and the Cause of an error or None."""
        word = self._nic.load(self._layout.runtime + self._layout.runtime_bytes * entry + Runtime.ANSWER)
        return word >> 16, Cause(word & 0xFFFF) if word & 0xFFFF else None

    async def look_up(self, va: int, size: int, whole: int) -> Pieces | Cause | None:
        """Translate a virtual address range.

        Args:
            va: Virtual address.
            size: Bytes to translate.
            whole: Bytes from `va` on that must be in one block.

        Returns:
            The physical pieces, a Cause if the range is not in one block, or None for a miss.
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
        """Return the Cause if a range of a static entry is not in one allocated block, otherwise None."""
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
        """Return the pieces of `size` bytes that begin `skip` bytes after the start of an entry's list."""
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
