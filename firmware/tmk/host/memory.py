"""The shared pages of one process: what it may do with each, twins, diffs, and what they contain."""

from __future__ import annotations

from dataclasses import dataclass, field

from firmware.tmk.host.wire import WORD, Diff, apply, encode
from pymodels.host import PAGE, Process, Rights

LINE = 32


@dataclass
class State:
    """Of one page."""

    have: list[int]
    """Of each process the last interval whose changes the page contains."""
    whole: bool = False
    """It has been here; otherwise its frame holds nothing."""
    given: bool = False
    """Of its holder: somebody else has, or had, a copy."""
    right: Rights = Rights.NONE
    twin: int = 0
    """Address of its twin; 0: it has none."""
    since: int = 0
    """The first interval of this process in which it was written since the twin was made."""
    pending: dict[int, int] = field(default_factory=dict)
    """By process the last interval of which a notice came, and whose changes are not here."""
    diffs: list[Diff] = field(default_factory=list)
    """Own ones, and those that were fetched."""


class Memory:
    """All of one process. Shared memory stands at the same address in every process."""

    def __init__(self, process: Process, pages: int, nodes: int, me: int) -> None:
        self.process, self.me = process, me
        self.base = process.allocate(PAGE * pages)
        self.pages = [State([0] * nodes, whole=me == 0) for _ in range(pages)]
        self.holder = [0] * pages
        """Who gives a page as a whole."""
        process.set_rights(self.base, PAGE * pages, Rights.NONE)
        self._shared = 0
        """Process 0: how many pages were given out."""
        self._spare: list[int] = []
        self.bytes = 0
        """Of diffs that are kept."""
        self.twins = self.diffs = 0
        """Made so far."""

    def give_out(self, size: int) -> None:
        """Process 0: so many bytes from the first page on are shared memory, which it may read."""
        first, self._shared = self._shared, -(-size // PAGE)
        for state in self.pages[first : self._shared]:
            state.right = Rights.READ
        self.process.set_rights(self.at(first), PAGE * (self._shared - first), Rights.READ)

    def free(self) -> None:
        """Give shared memory and twins back."""
        self.process.set_rights(self.base, PAGE * len(self.pages), Rights.WRITE)
        self.process.free(self.base, PAGE * len(self.pages))
        for place in (*self._spare, *(state.twin for state in self.pages if state.twin)):
            self.process.free(place, PAGE)

    def at(self, page: int) -> int:
        """Where a page stands."""
        return self.base + PAGE * page

    async def allow(self, page: int, right: Rights) -> None:
        """Give this right to a page, and no other."""
        if self.pages[page].right != right:
            self.pages[page].right = right
            await self.process.protect(self.at(page), PAGE, right)

    async def twin(self, page: int, interval: int) -> None:
        """Keep a copy of a page that is about to be written, in an interval that has not ended."""
        state = self.pages[page]
        place = self._spare.pop() if self._spare else self.process.allocate(PAGE)
        await self.process.copy_memory("tmk_copy", place, self.at(page), PAGE)
        state.twin, state.since = place, interval
        self.twins += 1
        await self.allow(page, Rights.WRITE)

    async def diff(self, page: int, last: int) -> None:
        """Make the diff of a page that has a twin, over the intervals up to `last`, and protect it again."""
        state, process = self.pages[page], self.process
        await process.spend("tmk_compare", PAGE // LINE)
        runs = encode(process.load_bytes(state.twin, PAGE), process.load_bytes(self.at(page), PAGE))
        await process.spend("tmk_run", 1 + len(runs) // LINE)
        self.keep(page, Diff(self.me, state.since, last, runs))
        state.have[self.me] = last
        self.diffs += 1
        await self.drop_twin(page)

    async def drop_twin(self, page: int) -> None:
        """A page is as it is, and protected again."""
        state = self.pages[page]
        self._spare.append(state.twin)
        state.twin = 0
        await self.allow(page, Rights.READ)

    def keep(self, page: int, diff: Diff) -> None:
        """Keep a diff."""
        self.pages[page].diffs.append(diff)
        self.bytes += 16 + len(diff.runs)

    async def store(self, page: int, data: bytes) -> None:
        """The bytes of a page as a whole; it may be written meanwhile."""
        await self.allow(page, Rights.WRITE)
        self.process.store_bytes(self.at(page), data)

    async def load(self, page: int) -> bytes:
        """The same, to be sent; the page may have no right."""
        right = self.pages[page].right
        if right == Rights.NONE:
            await self.allow(page, Rights.READ)
        data = self.process.load_bytes(self.at(page), PAGE)
        if right == Rights.NONE:
            await self.allow(page, right)
        return data

    async def change(self, page: int, diffs: list[Diff]) -> None:
        """Apply diffs in this order."""
        await self.allow(page, Rights.WRITE)
        state, process = self.pages[page], self.process
        content = bytearray(process.load_bytes(self.at(page), PAGE))
        for diff in diffs:
            runs = apply(diff.runs, content)
            await process.spend("tmk_run", runs + len(diff.runs) // (WORD * 8))
            state.have[diff.process] = max(state.have[diff.process], diff.last)
        process.store_bytes(self.at(page), bytes(content))

    def settle(self, page: int) -> None:
        """What the page contains is pending no more."""
        state = self.pages[page]
        state.pending = {one: last for one, last in state.pending.items() if last > state.have[one]}
