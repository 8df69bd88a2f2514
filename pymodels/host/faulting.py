"""Accesses that may fault: a handler of the process, or of a driver, mends the page, and they are done again.

`load_bytes` and `store_bytes` cannot wait: a page without the right ends them with ProtectionFault. `read`, `write` and
`view` are awaited. A page that is not present faults into the handler that a driver gave it, one without the right into
that of the process. A store to a page of a card (`pio_write`) faults into its driver's in both cases; loads from a card
end with ProtectionFault. A handler runs on the thread that faulted and may wait for whatever it wants: a message, DMA.
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
"""Faults in a row at one page, of one access, after which its handler does not mend it (ours)."""


class Fault(NamedTuple):
    """What a handler is told."""

    va: int
    """The first address of the access on its page."""
    write: bool
    present: bool
    at: int
    """When, in ps."""


FaultHandler = Callable[[Fault], Coroutine[Any, Any, None]]


class FaultError(SanlabError):
    """A handler returned, and the access faults as before."""


class ViewError(SanlabError):
    """A view of memory was kept while its process waited: pages may have been taken away or moved meanwhile."""


class Kept(NamedTuple):
    """A view that was given out."""

    array: weakref.ref[NDArray[np.uint8]]
    va: int
    size: int
    physical: int
    write: bool


class Faulting(Signalled):
    """Mixed into `Process`."""

    host: Owner
    pages: PageTable

    def start_faults(self) -> None:
        """Called once, when the process is made."""
        self._views = []
        self._mends: FaultHandler | None = None
        self._masked: frozenset[Any] = frozenset()
        self._mending: set[Task | None] = set()
        self.faults = 0
        """Faults so far that a handler was asked to mend."""

    # ---- the kernel's side

    def on_fault(self, handler: FaultHandler, mask: Collection[Any] = ()) -> None:
        """SEGV with what it is for: let `handler(fault)` mend pages that are present. `mask`: signals that wait."""
        self._mends, self._masked = handler, frozenset(mask)

    def page_by(self, va: int, size: int, handler: FaultHandler) -> None:
        """A driver's: let `handler(fault)` bring the pages of a range when they are not present."""
        for at, _ in parts(va, size):
            self.pages.at(at, "paging").pager = handler

    def set_rights(self, va: int, size: int, rights: Rights) -> None:
        """Give the pages of a range these rights, and no others. Raises ProtectionFault where nothing is mapped."""
        for at, _ in parts(va, size):
            page = self.pages.at(at, "protecting")
            self._change(at, page, rights, page.present)

    def set_present(self, va: int, size: int, present: bool) -> None:
        """Pages of a range are there, or not. Raises ProtectionFault for a page that is pinned, or not mapped."""
        for at, _ in parts(va, size):
            page = self.pages.at(at, "paging")
            if page.pins and not present:
                raise ProtectionFault(self.who, "paging out", at, "the page is pinned")
            self._change(at, page, page.rights, present)

    def place(self, va: int, size: int, physical: int) -> None:
        """A driver's: pages of a card that follow one another stand at another place of it from now on."""
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
        """By a system call: give the pages of a range these rights (profile: `host.protect_ns` a page)."""
        await self.syscall()
        for at, part in parts(va, size):
            await self.overhead("protect")
            self.set_rights(at, part, rights)

    async def overhead(self, what: str) -> None:
        """Use the CPU for what software costs beside its compiled paths."""
        await self._scheduler.enter()
        await self.host.overhead(what)
        if self._scheduler.leave():
            await self._after(f"overhead({what!r})")

    async def read(self, va: int, size: int) -> bytes:
        """Bytes of memory; faults are mended."""
        return b"".join([self.host.load_bytes(*piece) for piece in await self._reach("read", va, size, False)])

    async def write(self, va: int, data: bytes | memoryview) -> None:
        """Store bytes to memory, all at once; faults are mended."""
        done = 0
        for piece, size in await self._reach("write", va, len(data), True):
            self.host.store_bytes(piece, data[done : done + size])
            done += size

    async def view(self, va: int, size: int, write: bool = False) -> NDArray[np.uint8]:
        """The bytes themselves, until the process waits next; faults are mended. Raises ViewError for pages whose
        frames do not follow one another. A polling loop sees what was stored when the process waits next.
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
                raise ViewError(what, cause, "let it go before the process waits, and take it again")
            if kept.write:
                self.host.store_bytes(kept.physical, self.host.load_bytes(kept.physical, kept.size))

    # ---- faults

    async def _reach(self, call: str, va: int, size: int, write: bool) -> list[tuple[int, int]]:
        """The physical pieces of a range, as soon as all its pages allow the access at once."""
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
        """Let the handler mend a page; whether it changed it at all. Raises what was refused when there is none."""
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
