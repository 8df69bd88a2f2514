"""Shared pages of one process: access rights, twins, diffs and contents."""

from __future__ import annotations

from dataclasses import dataclass, field

from firmware.tmk.host.wire import WORD, Diff, apply, encode
from pymodels.host import PAGE, Process, Rights

LINE = 32


@dataclass
class State:
    """State of one page."""

    have: list[int]
    """Last interval of each process whose changes the page contains."""
    whole: bool = False
    """True if the page has been here; otherwise its frame is empty."""
    given: bool = False
    """True if another process has or had a copy (at the holder)."""
    right: Rights = Rights.NONE
    twin: int = 0
    """Address of the twin, or 0."""
    since: int = 0
    """First interval of this process that wrote the page since the twin was made."""
    pending: dict[int, int] = field(default_factory=dict)
    """Last interval with a notice whose changes are missing, by process."""
    diffs: list[Diff] = field(default_factory=list)
    """Diffs made here and diffs fetched."""


class Memory:
    """Shared memory of one process, at the same address in every process."""

    def __init__(self, process: Process, pages: int, nodes: int, me: int) -> None:
        self.process, self.me = process, me
        self.base = process.allocate(PAGE * pages)
        self.pages = [State([0] * nodes, whole=me == 0) for _ in range(pages)]
        self.holder = [0] * pages
        """Process that provides the complete page."""
        process.set_rights(self.base, PAGE * pages, Rights.NONE)
        self._shared = 0
        """Number of pages allocated (in process 0)."""
        self._spare: list[int] = []
        self.bytes = 0
        """Bytes of kept diffs."""
        self.twins = self.diffs = 0
        """Numbers of twins and diffs made."""

    def give_out(self, size: int) -> None:
        """Make the first `size` bytes readable shared memory (in process 0)."""
        first, self._shared = self._shared, -(-size // PAGE)
        for state in self.pages[first : self._shared]:
            state.right = Rights.READ
        self.process.set_rights(self.at(first), PAGE * (self._shared - first), Rights.READ)

    def free(self) -> None:
        """Free shared memory and twins."""
        self.process.set_rights(self.base, PAGE * len(self.pages), Rights.WRITE)
        self.process.free(self.base, PAGE * len(self.pages))
        for place in (*self._spare, *(state.twin for state in self.pages if state.twin)):
            self.process.free(place, PAGE)

    def at(self, page: int) -> int:
        """Return the address of a page."""
        return self.base + PAGE * page

    async def allow(self, page: int, right: Rights) -> None:
        """Set the access right of a page."""
        if self.pages[page].right != right:
            self.pages[page].right = right
            await self.process.protect(self.at(page), PAGE, right)

    async def twin(self, page: int, interval: int) -> None:
        """Copy a page before its first write in an interval that has not ended."""
        state = self.pages[page]
        place = self._spare.pop() if self._spare else self.process.allocate(PAGE)
        await self.process.copy_memory("tmk_copy", place, self.at(page), PAGE)
        state.twin, state.since = place, interval
        self.twins += 1
        await self.allow(page, Rights.WRITE)

    async def diff(self, page: int, last: int) -> None:
        """Make the diff of a page with a twin, up to interval `last`, and protect the page again."""
        state, process = self.pages[page], self.process
        await process.spend("tmk_compare", PAGE // LINE)
        runs = encode(process.load_bytes(state.twin, PAGE), process.load_bytes(self.at(page), PAGE))
        await process.spend("tmk_run", 1 + len(runs) // LINE)
        self.keep(page, Diff(self.me, state.since, last, runs))
        state.have[self.me] = last
        self.diffs += 1
        await self.drop_twin(page)

    async def drop_twin(self, page: int) -> None:
        """Discard a page's twin and protect the page."""
        state = self.pages[page]
        self._spare.append(state.twin)
        state.twin = 0
        await self.allow(page, Rights.READ)

    def keep(self, page: int, diff: Diff) -> None:
        """Keep a diff."""
        self.pages[page].diffs.append(diff)
        self.bytes += 16 + len(diff.runs)

    async def store(self, page: int, data: bytes) -> None:
        """Store a complete page; it is writable meanwhile."""
        await self.allow(page, Rights.WRITE)
        self.process.store_bytes(self.at(page), data)

    async def load(self, page: int) -> bytes:
        """Return the bytes of a page, whatever its right."""
        right = self.pages[page].right
        if right == Rights.NONE:
            await self.allow(page, Rights.READ)
        data = self.process.load_bytes(self.at(page), PAGE)
        if right == Rights.NONE:
            await self.allow(page, right)
        return data

    async def change(self, page: int, diffs: list[Diff]) -> None:
        """Apply diffs in order."""
        await self.allow(page, Rights.WRITE)
        state, process = self.pages[page], self.process
        content = bytearray(process.load_bytes(self.at(page), PAGE))
        for diff in diffs:
            runs = apply(diff.runs, content)
            await process.spend("tmk_run", runs + len(diff.runs) // (WORD * 8))
            state.have[diff.process] = max(state.have[diff.process], diff.last)
        process.store_bytes(self.at(page), bytes(content))

    def settle(self, page: int) -> None:
        """Drop pending notices that the page already contains."""
        state = self.pages[page]
        state.pending = {one: last for one, last in state.pending.items() if last > state.have[one]}
