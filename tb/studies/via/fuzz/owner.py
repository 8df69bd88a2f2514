"""Process of a VIA program, with every byte of its memory accounted for."""

from __future__ import annotations

import random

import numpy as np
from numpy.typing import NDArray

from firmware.via.formats import ALIGNMENT
from firmware.via.host import Descriptor, Result, Vi, Via, VipError, VipNic
from pymodels.host.process import Process
from tb.studies.via.fuzz.completions import Completions

INK = bytes(random.Random("ink").choices(range(1, 256), k=1 << 18))
"""Bytes with which memory is filled; none is 0."""
PLAIN, OPEN, CLOSED = 0, 1, 2
SIZES = (160 << 10, 48 << 10, 4 << 10)
"""Sizes in bytes of the regions: for messages; for RDMA by peers; registered for the process's own use only."""
GAP = 48
"""Number of unused bytes between two used areas."""
PLACE_BYTES, PLACES = 256, 320
"""Bytes of a descriptor with 13 segments."""
SEGMENTS, LONG_BYTES, LONG_PLACES = 13, 1024, 8
"""Segments of a long descriptor."""
PLACE_ROOM = PLACE_BYTES * PLACES + LONG_BYTES * LONG_PLACES
SHARED_ENTRIES = 64
"""Entries of the completion queue that connections share."""

Extent = tuple[int, int]
"""Offset and size in bytes."""


class Area:
    """Registered region and its permitted content: known bytes, and bytes with any value."""

    def __init__(self, owner: Owner, va: int, handle: int, size: int, ink: int) -> None:
        self.owner, self.va, self.handle, self.size = owner, va, handle, size
        pattern = INK[ink : ink + size]
        self.expected: NDArray[np.uint8] = np.frombuffer(pattern, np.uint8).copy()
        self.unknown = np.zeros(size, bool)
        self._next = GAP
        owner.process.store_bytes(va, pattern)

    def take(self, sizes: list[int]) -> list[Extent] | None:
        """Return unused places for the pieces, or None if there is no room."""
        align = 1 if self.owner.nic.host.card.moves_bytes else 4
        found, at = [], self._next
        for number, size in enumerate(sizes):
            found.append((at + (number + len(sizes)) % 4 // align * align, size))
            at = -(-(at + size + GAP) // 4) * 4
        if at > self.size:
            return None
        self._next = at
        return found

    def segments(self, parts: list[Extent]) -> list[tuple[int, int, int]]:
        """Return the data segments of a descriptor for these parts."""
        return [(self.va + at, self.handle, size) for at, size in parts]

    def read(self, parts: list[Extent]) -> bytes:
        """Return the bytes of these parts."""
        return b"".join(self.owner.process.load_bytes(self.va + at, size) for at, size in parts)

    def loosen(self, parts: list[Extent]) -> None:
        """Permit any value in these parts from now on."""
        for at, size in parts:
            self.unknown[at : at + size] = True

    def fix(self, parts: list[Extent], data: bytes, behind: bool = True) -> None:
        """Permit only `data` in these parts from now on.

        Bytes beyond the data must keep their earlier content or, with `behind` False, their current permission.
        """
        done = 0
        for at, size in parts:
            part = data[done : done + size]
            self.expected[at : at + len(part)] = np.frombuffer(part, np.uint8)
            self.unknown[at : at + (size if behind else len(part))] = False
            done += size

    def wrong(self) -> int | None:
        """Return the offset of the first byte with a forbidden value, or None."""
        actual = np.frombuffer(self.owner.process.load_bytes(self.va, self.size), np.uint8)
        bad = (actual != self.expected) & ~self.unknown
        return int(np.argmax(bad)) if bad.any() else None


class Owner:
    """Process of one node."""

    def __init__(self, node: int, number: int) -> None:
        self.node, self.number = node, number
        self.nic: VipNic
        self.tag = 0
        self.areas: list[Area] = []
        self.hostile = False
        """True if the process may change its own memory at will and may not release resources."""
        self.shares = False
        """True if its connections share a completion queue."""
        self.shared: Completions | None = None
        self.broken: list[Vi] = []
        """VIs whose connections broke, as reported by the NIC."""
        self.breaks = 0
        """Number of broken connections, as reported by their VIs."""
        self.asked = 0
        """Counts of the NIC at the last query."""
        self._place_handle = 0
        self._place_base = 0
        self._free: list[int] = []
        self._long: list[int] = []
        """Addresses of unused places for long descriptors."""

    def __str__(self) -> str:
        return f"process {self.number} of node {self.node}"

    @property
    def process(self) -> Process:
        """Process on the host."""
        return self.nic.process

    async def open(self, via: Via) -> None:
        """Open the NIC and register all memory."""
        self.nic = await via.open()
        self.nic.on_error(self.broken.append)
        self.tag = self.nic.create_ptag()
        for kind, size in enumerate(SIZES):
            va = self.process.allocate(size)
            shared = kind == OPEN
            handle = await self.nic.register_memory(va, size, self.tag, rdma_write=shared, rdma_read=shared)
            self.areas.append(Area(self, va, handle, size, (self.node * 7 + self.number * 3 + kind) * 1013))
        self._place_base = base = self.process.allocate(PLACE_ROOM)
        self._place_handle = await self.nic.register_memory(base, PLACE_ROOM, self.tag)
        self._free = [base + PLACE_BYTES * number for number in range(PLACES)]
        self._long = [base + PLACE_BYTES * PLACES + LONG_BYTES * number for number in range(LONG_PLACES)]
        if self.shares:
            self.shared = await self.completions(SHARED_ENTRIES, shared=True)

    async def completions(self, entries: int, shared: bool = False) -> Completions | None:
        """Create a completion queue, or return None if there is none left."""
        try:
            queue = await self.nic.create_cq(entries)
        except VipError as error:
            if error.result is not Result.ERROR_RESOURCE:
                raise
            return None
        return Completions(queue, entries, self.nic.options.completion == "cq1", shared)

    def place(self, segments: int = 1) -> Descriptor:
        """Return a free place for a descriptor with `segments` segments."""
        return self.nic.descriptor((self._free if segments <= SEGMENTS else self._long).pop(0), self._place_handle)

    def has_place(self, segments: int) -> bool:
        """Return True if a place for a descriptor with `segments` segments is free."""
        return bool(self._free if segments <= SEGMENTS else self._long)

    def give_back(self, descriptor: Descriptor) -> None:
        """Mark the place of a descriptor as free."""
        long = descriptor.va - self._place_base >= PLACE_BYTES * PLACES
        (self._long if long else self._free).append(descriptor.va)

    async def close(self) -> None:
        """Release all resources."""
        if self.shared is not None:
            await self.shared.queue.destroy()
        for area in self.areas:
            await self.nic.deregister_memory(area.handle)
        await self.nic.deregister_memory(self._place_handle)
        await self.nic.close()
        for area in self.areas:
            self.process.free(area.va, area.size)
        self.process.free(self._place_base, PLACE_ROOM)


assert PLACE_BYTES % ALIGNMENT == 0
