"""Registered memory: pinned blocks, with the virtual addresses by which all hosts name them (paper 000, 4.5.1; 003,
C.5.1).

Contiguous regions of 4 MB come from the pinned-memory driver. Blocks are allocated from them in granules, with one free
granule behind each. A region has a static entry of the NI's translation cache as long as entries are left; a bit map
beside the entry shows which granules are allocated. The second kind is user-space memory, pinned page by page. Its
pages are scattered, and the NI gets their addresses from the driver when it needs them.
"""

from __future__ import annotations

import random
from bisect import bisect_right, insort
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from firmware.common.host.words import store_words
from firmware.grim.host.errors import GrimError
from firmware.grim.nic.layout import Layout
from firmware.grim.nic.remote_memory.entries import GRANULE, MAP_BYTES, PAGE, REGION, Static
from firmware.verbs import Buffer, Host

REGIONS_VA = 0x4000_0000
"""Virtual address of the first contiguous region (ours: any value that is not a physical address)."""
USER_VA = 0x8000_0000
"""Virtual address of the first page of user-space memory."""
PAGES_AT_ONCE = 256
"""Number of pages allocated at once, from which scattered pages are drawn."""
Pieces = tuple[tuple[int, int], ...]
"""Physical address and bytes of each piece, in the order of the virtual addresses."""


@dataclass(frozen=True, order=True)
class Block:
    """Registered block."""

    va: int
    size: int
    pieces: Pieces
    static: bool
    """True if a static entry of the NI's cache maps the block."""

    def cut(self, va: int, size: int) -> Pieces:
        """Return the physical pieces of a part of the block."""
        found, skip = [], va - self.va
        for pa, length in self.pieces:
            part = min(length - skip, size)
            if part > 0:
                found.append((pa + skip, part))
                size -= part
            skip = max(skip - length, 0)
        return tuple(found)


Forget = Callable[[Block], Awaitable[None]]
"""Function by which the driver revokes the translations of a block."""


@dataclass
class Region:
    """Contiguous region, and its allocated ranges: (first granule, granules), sorted."""

    va: int
    buffer: Buffer
    entry: int | None
    """Static entry of the region, or None."""
    taken: list[tuple[int, int]] = field(default_factory=list)
    bits: list[int] = field(default_factory=lambda: [0] * (MAP_BYTES // 4))

    def room(self, granules: int) -> int | None:
        """Return the first granule of a free range that leaves one more granule free behind it, or None."""
        at = 0
        for first, count in self.taken:
            if first - at >= granules + 1:
                return at
            at = first + count + 1
        return at if at + granules <= REGION // GRANULE else None


class PinnedMemory:
    """Registered memory of one host."""

    def __init__(self, host: Host, layout: Layout, entries: int, seed: int) -> None:
        """Create an empty memory.

        Args:
            host: Host that owns the memory.
            layout: Addresses of the NI's translation cache.
            entries: Number of static entries in that cache.
            seed: Seed that scatters the pages of user-space memory.
        """
        self._host, self._layout, self._entries = host, layout, entries
        self._random = random.Random(f"pages {seed} {host.node}")
        self._regions: list[Region] = []
        self._blocks: list[Block] = []
        self._pages: list[int] = []
        self._next_user = USER_VA

    # ---- allocation

    async def allocate(self, size: int) -> int:
        """Allocate a contiguous block and return its virtual address. Raises GrimError if no room is left."""
        if not 0 < size <= REGION:
            raise GrimError("number of bytes", f"{size}", f"give 1 to {REGION}")
        await self._host.spend("malloc_pinned")
        granules = -(-size // GRANULE)
        for region in self._regions:
            at = region.room(granules)
            if at is not None:
                return await self._take(region, at, granules, size)
        return await self._take(await self._region(size), 0, granules, size)

    async def _region(self, size: int) -> Region:
        """Get another region from the driver, and write its static entry if one is left."""
        await self._host.syscall()
        try:
            buffer = self._host.allocate(REGION)
        except MemoryError as error:
            raise GrimError(
                "number of bytes",
                f"{size}: the host has no contiguous region of {REGION} left ({error})",
                "free some memory",
            ) from None
        number = len(self._regions)
        region = Region(REGIONS_VA + 2 * REGION * number, buffer, number if number < self._entries else None)
        self._regions.append(region)
        if region.entry is not None:
            await self._host.spend("load_entry")
            at = self._layout.static + Static.BYTES * region.entry
            await store_words(self._host, at + Static.VA, region.va)
            await store_words(self._host, at + Static.PA, buffer.address)
            await store_words(self._host, at + Static.SIZE, REGION)  # written last: makes the entry valid
        return region

    async def _take(self, region: Region, at: int, granules: int, size: int) -> int:
        insort(region.taken, (at, granules))
        await self._mark(region, at, granules, True)
        va, pa = region.va + GRANULE * at, region.buffer.address + GRANULE * at
        insort(self._blocks, Block(va, size, ((pa, size),), region.entry is not None))
        return va

    async def _mark(self, region: Region, first: int, granules: int, given_out: bool) -> None:
        """Update the NI's bit map of allocated granules, in whole words."""
        low, high = first // 32, (first + granules - 1) // 32
        for word in range(low, high + 1):
            begin, end = max(first - 32 * word, 0), min(first + granules - 32 * word, 32)
            mask = (1 << end) - (1 << begin)
            region.bits[word] = region.bits[word] | mask if given_out else region.bits[word] & ~mask
        if region.entry is not None:
            await self._host.spend("mark_word", high - low + 1)
            await store_words(
                self._host, self._layout.maps + MAP_BYTES * region.entry + 4 * low, *region.bits[low : high + 1]
            )

    async def pin_user(self, size: int) -> int:
        """Pin user-space pages by a system call and return the virtual address of the first. Raises GrimError."""
        if not 0 < size <= REGION:
            raise GrimError("number of bytes", f"{size}", f"give 1 to {REGION}")
        count = -(-size // PAGE)
        await self._host.syscall()
        await self._host.spend("pin_page", count)
        pages = [self._page(size) for _ in range(count)]
        va, self._next_user = self._next_user, self._next_user + PAGE * (count + 1)
        pieces = [(page, min(PAGE, size - PAGE * i)) for i, page in enumerate(pages)]
        insort(self._blocks, Block(va, size, tuple(pieces), False))
        return va

    def _page(self, size: int) -> int:
        """Return the physical address of a free page at a random place."""
        if not self._pages:
            try:
                base = self._host.allocate(PAGE * PAGES_AT_ONCE).address
            except MemoryError as error:
                raise GrimError(
                    "number of bytes", f"{size}: the host has no pages left ({error})", "free some"
                ) from None
            self._pages = [base + PAGE * i for i in range(PAGES_AT_ONCE)]
            self._random.shuffle(self._pages)
        return self._pages.pop()

    async def free(self, va: int, forget: Forget) -> None:
        """Free a block; `forget` is awaited before its memory can be allocated again.

        Raises GrimError if no block begins at the address.
        """
        block = self.block(va)
        if block is None or block.va != va:
            raise GrimError(
                "pinned virtual address", f"no block begins at {va:#x}", "give an address that malloc_pinned returned"
            )
        self._blocks.remove(block)
        await self._host.spend("free_pinned")
        region = next((region for region in self._regions if region.va <= va < region.va + REGION), None)
        if region is None:
            await forget(block)
            self._pages += [pa for pa, _ in block.pieces]
            return
        place = (va - region.va) // GRANULE, -(-block.size // GRANULE)
        await self._mark(region, *place, False)
        await forget(block)
        region.taken.remove(place)

    # ---- addresses

    def block(self, va: int) -> Block | None:
        """Return the block that contains a virtual address, or None."""
        at = bisect_right(self._blocks, va, key=lambda block: block.va)
        block = self._blocks[at - 1] if at else None
        return block if block is not None and va < block.va + block.size else None

    def pieces(self, va: int, size: int, argument: str) -> Pieces:
        """Return the physical pieces of an address range. Raises GrimError naming the argument."""
        block = self.block(va)
        if block is None:
            raise GrimError(argument, f"{va:#x} is not in pinned memory", "give an address that malloc_pinned returned")
        if va + size > block.va + block.size:
            left = block.va + block.size - va
            raise GrimError(argument, f"{size} bytes at {va:#x} exceed their block", f"give {left} or less")
        return block.cut(va, size)

    def va_of(self, pa: int) -> int:
        """Return the virtual address of a physical address. Raises GrimError if it is not in pinned memory."""
        for block in self._blocks:
            before = 0
            for piece, length in block.pieces:
                if piece <= pa < piece + length:
                    return block.va + before + pa - piece
                before += length
        raise GrimError(
            "pinned physical address", f"{pa:#x} is not in pinned memory", "give an address that get_pinned_pa returned"
        )
