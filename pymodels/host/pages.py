"""Page table: mapped pages of a virtual address space, their physical addresses and access rights."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from pymodels.host.faults import ProtectionFault

PAGE = 4096
"""Bytes of a page (Intel; paper 001, 2.2.1)."""
OFFSET = PAGE - 1


class Rights(IntEnum):
    """Access rights of a process to a page."""

    NONE = 0
    READ = 1
    WRITE = 2
    """Read and write."""


@dataclass
class Page:
    """Mapped page."""

    physical: int
    device: bool = False
    """True for a page of a device on the bus, False for memory."""
    rights: Rights = Rights.WRITE
    present: bool = True
    pins: int = 0
    """Number of registrations that pin it to its frame."""
    pager: Callable[[Any], Coroutine[Any, Any, None]] | None = None
    """Handler of a driver that brings the page when it is not present."""
    changes: int = -1
    """Number of changes of rights or presence."""

    def __post_init__(self) -> None:
        self.change(self.rights, self.present)

    def change(self, rights: Rights, present: bool) -> None:
        """Set rights and presence."""
        self.rights, self.present = rights, present
        self.readable = present and rights >= Rights.READ
        self.writable = present and rights >= Rights.WRITE
        self.changes += 1


class PageTable:
    """Mapped pages of one process, by virtual page number."""

    def __init__(self, who: str) -> None:
        self.who = who
        self._pages: dict[int, Page] = {}

    def map(self, va: int, page: Page) -> None:
        """Map one page at a virtual page address."""
        self._pages[va // PAGE] = page

    def unmap(self, va: int) -> Page:
        """Remove and return a page. Raises ProtectionFault if it is not mapped or is pinned."""
        page = self.at(va, "unmapping")
        if page.pins:
            raise ProtectionFault(self.who, "unmapping", va, "the page is pinned")
        return self._pages.pop(va // PAGE)

    def find(self, va: int) -> Page | None:
        """Return the page of a virtual address, or None."""
        return self._pages.get(va // PAGE)

    def at(self, va: int, what: str) -> Page:
        """Return the page of a virtual address. Raises ProtectionFault, for the access `what`, if it is not mapped."""
        page = self._pages.get(va // PAGE)
        if page is None:
            raise ProtectionFault(self.who, what, va)
        return page

    def physical(self, va: int, size: int, what: str, *, device: bool, write: bool) -> int | None:
        """Return the physical address of a range, or None if it is not contiguous. Raises ProtectionFault."""
        page = self._pages.get(va // PAGE)
        if page is None or page.device is not device or not (page.writable if write else page.readable):
            raise self._fault(page, va, what, device)
        if (va & OFFSET) + size <= PAGE:
            return page.physical + (va & OFFSET)
        pieces = self.pieces(va, size, what, device=device, write=write)
        return pieces[0][0] if len(pieces) == 1 else None

    def pieces(
        self, va: int, size: int, what: str, *, device: bool = False, write: bool = False
    ) -> list[tuple[int, int]]:
        """Return physical address and size of the contiguous pieces of a range, in order. Raises ProtectionFault."""
        found: list[tuple[int, int]] = []
        for at, part in parts(va, size):
            page = self._pages.get(at // PAGE)
            if page is None or page.device is not device or not (page.writable if write else page.readable):
                raise self._fault(page, at, what, device)
            physical = page.physical + (at & OFFSET)
            if found and sum(found[-1]) == physical:
                found[-1] = (found[-1][0], found[-1][1] + part)
            else:
                found.append((physical, part))
        return found

    def _fault(self, page: Page | None, va: int, what: str, device: bool) -> ProtectionFault:
        if page is None:
            return ProtectionFault(self.who, what, va)
        if page.device is not device:
            return ProtectionFault(self.who, what, va, "memory, not a device" if device else "a device, not memory")
        if not page.present:
            return ProtectionFault(self.who, what, va, "the page is not present")
        return ProtectionFault(
            self.who, what, va, "the page is read-only" if page.readable else "the page has no right"
        )


def parts(va: int, size: int) -> Iterator[tuple[int, int]]:
    """Yield virtual address and size of a range's parts, cut at page boundaries."""
    while size > 0:
        part = min(size, PAGE - (va & OFFSET))
        yield va, part
        va, size = va + part, size - part
