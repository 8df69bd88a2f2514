"""Memory accesses that may fault: a handler of the process or of a driver fixes the page, and the access is repeated.

`load_bytes` and `store_bytes` cannot wait: a page without the right ends them with ProtectionFault. `read`, `write` and
`view` are awaited. A page that is not present faults into the handler of a driver, a page without the right into that
of the process. A store to a page of a card (`pio_write`) faults into its driver's handler in both cases; loads from a
card end with ProtectionFault. A handler runs on the faulting thread and may wait for a message or DMA.
"""

from __future__ import annotations

import weakref
from collections import Counter
from collections.abc import Callable, Collection, Coroutine
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pymodels.errors import SanlabError
from pymodels.host.faults import ProtectionFault
from pymodels.host.owner import Owner
from pymodels.host.pages import PAGE, Page, PageTable, Rights, parts
from pymodels.host.signalled import Signalled
from pymodels.kernel import Task

MOST = 8
"""Maximum number of consecutive faults of one access at one page, after which an error is raised (ours)."""


class Fault(NamedTuple):
    """Page fault, the argument of a handler."""

    va: int
    """First address of the access on its page."""
    write: bool
    present: bool
    at: int
    """Time of the fault in ps."""


FaultHandler = Callable[[Fault], Coroutine[Any, Any, None]]


class FaultError(SanlabError):
    """Access that still faults after its handler has returned."""


class ViewError(SanlabError):
    """View of memory that was kept while its process waited, although pages may have been removed or moved
    meanwhile.
    """


class Kept(NamedTuple):
    """View that was returned to a process."""

    array: weakref.ref[NDArray[np.uint8]]
    va: int
    size: int
    physical: int
    write: bool


class Faulting(Signalled):
    """Mixin of `Process` with memory accesses that may fault."""

    host: Owner
    pages: PageTable

    def start_faults(self) -> None:
        """Initialize the mixin."""
        self._views = []
        self._mends: FaultHandler | None = None
        self._masked: frozenset[Any] = frozenset()
        self._mending: set[Task | None] = set()
        self.faults = 0
        """Number of faults passed to a handler so far."""

    # ---- the kernel's side

    def on_fault(self, handler: FaultHandler, mask: Collection[Any] = ()) -> None:
        """Register the SEGV handler `handler(fault)` for pages that are present.

        Args:
            handler: Coroutine function that fixes the page.
            mask: Signals that wait while the handler runs.
        """
        self._mends, self._masked = handler, frozenset(mask)

    def page_by(self, va: int, size: int, handler: FaultHandler) -> None:
        """Register a driver's handler `handler(fault)` that brings the pages of a range when they are not present."""
        for at, _ in parts(va, size):
            self.pages.at(at, "paging").pager = handler

    def set_rights(self, va: int, size: int, rights: Rights) -> None:
        """Set the rights of the pages of a range. Raises ProtectionFault for an unmapped page."""
        for at, _ in parts(va, size):
            page = self.pages.at(at, "protecting")
            self._change(at, page, rights, page.present)

    def set_present(self, va: int, size: int, present: bool) -> None:
        """Mark the pages of a range as present or not. Raises ProtectionFault for a page that is pinned or not
        mapped.
        """
        for at, _ in parts(va, size):
            page = self.pages.at(at, "paging")
            if page.pins and not present:
                raise ProtectionFault(self.who, "paging out", at, "the page is pinned")
            self._change(at, page, page.rights, present)

    def place(self, va: int, size: int, physical: int) -> None:
        """Map consecutive pages of a card to another physical address, for a driver."""
        for at, _ in parts(va, size):
            self.pages.at(at, "placing").physical = physical + at - va
        self._scheduler.disturbed()

    def _change(self, va: int, page: Page, rights: Rights, present: bool) -> None:
        page.change(rights, present)
        self._scheduler.disturbed()
        if not page.device:
            self.host.close(page.physical, "" if page.writable else f"{self.who}, page {va // PAGE * PAGE:#x}")

    # ---- verbs that take time

    async def protect(self, va: int, size: int, rights: Rights) -> None:
        """Set the rights of the pages of a range by a system call (profile: `host.protect_ns` for each page)."""
        await self.syscall()
        for at, part in parts(va, size):
            await self.overhead("protect")
            self.set_rights(at, part, rights)

    async def overhead(self, what: str) -> None:
        """Charge the CPU with a software cost beside compiled paths."""
        await self._scheduler.enter()
        await self.host.overhead(what)
        if self._scheduler.leave():
            await self._after(f"overhead({what!r})")

    async def read(self, va: int, size: int) -> bytes:
        """Return bytes of memory; faults are handled."""
        return b"".join([self.host.load_bytes(*piece) for piece in await self._reach("read", va, size, False)])

    async def write(self, va: int, data: bytes | memoryview) -> None:
        """Store bytes to memory, all at once; faults are handled."""
        done = 0
        for piece, size in await self._reach("write", va, len(data), True):
            self.host.store_bytes(piece, data[done : done + size])
            done += size

    async def view(self, va: int, size: int, write: bool = False) -> NDArray[np.uint8]:
        """Return an array on the memory itself, valid until the process waits next; faults are handled.

        A polling loop sees stores to the array when the process waits next. Raises ViewError for pages whose frames are
        not contiguous.
        """
        pieces = await self._reach("view", va, size, write)
        if len(pieces) != 1:
            cause = f"its pages lie in {len(pieces)} pieces of physical memory"
            raise ViewError(f"{self.who}: view({va:#x}, {size})", cause, "view one page at a time")
        ((physical, _),) = pieces
        array: NDArray[np.uint8] = np.frombuffer(self.host.window(physical, size), np.uint8)
        array.flags.writeable = write
        self._tell()
        self._views.append(Kept(weakref.ref(array), va, size, physical, write))
        return array

    def _expire(self, call: str) -> None:
        views, self._views = self._views, []
        for kept in views:
            if kept.array() is not None:
                cause = f"it was kept during {call}"
                what = f"{self.who}: view({kept.va:#x}, {kept.size})"
                raise ViewError(what, cause, "release it before the process waits, and create it again")
            if kept.write:
                self.host.store_bytes(kept.physical, self.host.load_bytes(kept.physical, kept.size))

    # ---- faults

    async def _reach(self, call: str, va: int, size: int, write: bool) -> list[tuple[int, int]]:
        """Return the physical pieces of a range as soon as all its pages allow the access at once."""
        what = f"{call} of {size} bytes"
        tries: Counter[int] = Counter()
        while isinstance(found := self._pieces(what, va, size, write), ProtectionFault):
            page = found.address // PAGE * PAGE
            tries[page] += 1
            if not await self._mend(found, write) or tries[page] == MOST:
                cause = f"its handler returned {tries[page]} times, and {found.args[3]}"
                remedy = "give the page its right, or bring it, before the handler returns"
                raise FaultError(f"{self.who}: {what} at {va:#x}, page {page:#x}", cause, remedy)
        return found

    def _pieces(self, what: str, va: int, size: int, write: bool) -> list[tuple[int, int]] | ProtectionFault:
        try:
            return self.pages.pieces(va, size, what, write=write)
        except ProtectionFault as refused:
            return refused

    async def _mend(self, refused: ProtectionFault, write: bool) -> bool:
        """Run the handler for a page. Return True if it changed the page. Raises the fault if there is no handler."""
        page, me = self.pages.find(refused.address), self._scheduler.kernel.current
        own = page is not None and page.present and not page.device
        handler = None if page is None else self._mends if own else page.pager
        if page is None or handler is None or me in self._mending:
            raise refused
        changes, at = page.changes, self._scheduler.kernel.now
        self.faults += 1
        await self.overhead("fault")
        self._mending.add(me)
        with self.signals.masking(self._masked if own else frozenset()):
            await handler(Fault(refused.address, write, page.present, at))
        self._mending.discard(me)
        return page.changes != changes
