"""Registered memory: regions of processes, each with a table of its page frames.

The table is filled at registration and indexed by page (paper 001, 3.2.2).
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
"""Number of registration serials. A handle is a nonzero serial and the index of the region."""


class Refused(Exception):  # noqa: N818 - becomes the status of a descriptor, not an error of the caller
    """Descriptor that names memory which it may not use."""

    def __init__(self, status: Status) -> None:
        super().__init__(status)
        self.status = status


@dataclass(frozen=True)
class Region:
    """Registered region."""

    handle: int
    process: Process
    va: int
    size: int
    attributes: MemoryAttributes
    frames: tuple[int, ...]
    """Physical addresses of the region's pages."""

    @property
    def tag(self) -> int:
        """Protection tag."""
        return self.attributes.tag

    @property
    def rdma(self) -> int:
        """Rights of remote NICs: RDMA_WRITE, RDMA_READ."""
        return self.attributes.rdma_write * RDMA_WRITE | self.attributes.rdma_read * RDMA_READ

    def pieces(self, va: int, size: int) -> list[tuple[int, int]]:
        """Return physical address and size of each page of a range in the region."""
        first = self.va // PAGE
        return [(self.frames[at // PAGE - first] + at % PAGE, part) for at, part in parts(va, size)]


class Registry:
    """Registered regions of one host."""

    def __init__(self, most: int) -> None:
        self._regions: list[Region | None] = [None] * most
        self._serial = 0
        self._leaving: set[int] = set()

    def add(self, process: Process, va: int, size: int, attributes: MemoryAttributes) -> Region:
        """Pin a range and register it. Raises VipError."""
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
        """Return the table index of a handle."""
        return handle & (1 << INDEX_BITS) - 1

    def get(self, handle: int) -> Region | None:
        """Return the region of a handle, or None."""
        index = self.index(handle)
        region = self._regions[index] if index < len(self._regions) else None
        return region if region is not None and region.handle == handle and handle not in self._leaving else None

    def hide(self, region: Region) -> None:
        """Hide a region from lookups. Its table entry and pages remain until it is removed."""
        self._leaving.add(region.handle)

    def unhide(self, region: Region) -> None:
        """Make a hidden region visible again."""
        self._leaving.remove(region.handle)

    def replace(self, region: Region, attributes: MemoryAttributes) -> Region:
        """Return a hidden region with new attributes, visible again."""
        self._regions[self.index(region.handle)] = changed = replace(region, attributes=attributes)
        self._leaving.remove(region.handle)
        return changed

    def remove(self, region: Region) -> None:
        """Remove a region and unpin its pages."""
        region.process.unpin(region.va, region.size)
        self._regions[self.index(region.handle)] = None
        self._leaving.discard(region.handle)

    def check(self, process: Process, tag: int, va: int, handle: int, size: int) -> Region:
        """Return the region that contains a segment, registered by the process under the tag. Raises Refused."""
        region = self.get(handle)
        if region is None or region.process is not process or region.tag != tag:
            raise Refused(Status.PROTECTION_ERROR)
        if va < region.va or va + size > region.va + region.size:
            raise Refused(Status.PROTECTION_ERROR)
        return region
