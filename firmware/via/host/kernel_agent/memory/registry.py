"""Registered memory: regions of processes, each with a table of its page frames, made when it is registered (paper 001,
3.2.2: linearly addressed, so a translation is an index).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from firmware.via.formats import Status
from firmware.via.host.common.attributes import MemoryAttributes
from firmware.via.host.common.errors import Result, VipError
from firmware.via.nic.layout import RDMA_READ, RDMA_WRITE
from pymodels.host import ProtectionFault
from pymodels.host.pages import PAGE, parts
from pymodels.host.process import Process

INDEX_BITS = 12
SERIALS = 1 << 32 - INDEX_BITS
"""Numbers of registrations, which with the index of the region's place make a handle of a word, but for 0."""


class Refused(Exception):  # noqa: N818 - no error of the caller: it becomes the status of a descriptor
    """A descriptor names memory that it may not: the status it gets."""

    def __init__(self, status: Status) -> None:
        super().__init__(status)
        self.status = status


@dataclass(frozen=True)
class Region:
    """A registered region."""

    handle: int
    process: Process
    va: int
    size: int
    attributes: MemoryAttributes
    frames: tuple[int, ...]
    """Physical address of each page that it touches."""

    @property
    def tag(self) -> int:
        """Its protection tag."""
        return self.attributes.tag

    @property
    def rdma(self) -> int:
        """What others may do with it: RDMA_WRITE, RDMA_READ."""
        return self.attributes.rdma_write * RDMA_WRITE | self.attributes.rdma_read * RDMA_READ

    def pieces(self, va: int, size: int) -> list[tuple[int, int]]:
        """(physical address, bytes) of a part of it, page by page."""
        first = self.va // PAGE
        return [(self.frames[at // PAGE - first] + at % PAGE, part) for at, part in parts(va, size)]


class Registry:
    """The regions of one host."""

    def __init__(self, most: int) -> None:
        self._regions: list[Region | None] = [None] * most
        self._serial = 0
        self._leaving: set[int] = set()

    def add(self, process: Process, va: int, size: int, attributes: MemoryAttributes) -> Region:
        """Pin a range and make its table. Raises VipError."""
        if None not in self._regions:
            what = f"registering {size} bytes at {va:#x}"
            raise VipError(Result.ERROR_RESOURCE, what, "deregister a region, or raise via.regions")
        try:
            frames = tuple(process.pin(va, size))
        except ProtectionFault as cause:
            what = f"registering {size} bytes at {va:#x}: {cause}"
            raise VipError(Result.INVALID_PARAMETER, what, "register memory of this process") from cause
        index = self._regions.index(None)
        self._serial = self._serial % (SERIALS - 1) + 1
        region = Region(self._serial << INDEX_BITS | index, process, va, size, attributes, frames)
        self._regions[index] = region
        return region

    def index(self, handle: int) -> int:
        """Where in the table a handle's region stands."""
        return handle & (1 << INDEX_BITS) - 1

    def get(self, handle: int) -> Region | None:
        """The region of a handle."""
        index = self.index(handle)
        region = self._regions[index] if index < len(self._regions) else None
        return region if region is not None and region.handle == handle and handle not in self._leaving else None

    def hold_back(self, region: Region) -> None:
        """Withhold a region from look-ups; its place in the table and its pages stay until it is removed."""
        self._leaving.add(region.handle)

    def give_again(self, region: Region) -> None:
        """Make a region that was held back available again."""
        self._leaving.remove(region.handle)

    def replace(self, region: Region, attributes: MemoryAttributes) -> Region:
        """A region that was held back, with other attributes."""
        self._regions[self.index(region.handle)] = changed = replace(region, attributes=attributes)
        self._leaving.remove(region.handle)
        return changed

    def remove(self, region: Region) -> None:
        """Forget a region, and let its pages go."""
        region.process.unpin(region.va, region.size)
        self._regions[self.index(region.handle)] = None
        self._leaving.discard(region.handle)

    def check(self, process: Process, tag: int, va: int, handle: int, size: int) -> Region:
        """The region that a segment names: registered by this process under this tag, and as long. Raises Refused."""
        region = self.get(handle)
        if region is None or region.process is not process or region.tag != tag:
            raise Refused(Status.PROTECTION_ERROR)
        if va < region.va or va + size > region.va + region.size:
            raise Refused(Status.PROTECTION_ERROR)
        return region
