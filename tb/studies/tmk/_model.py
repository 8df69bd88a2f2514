"""Lazy release consistency as its papers tell it, over sets: what a run of TreadMarks must count.

Knowledge is a set of intervals, not a vector, and grows by union. The model is told the schedule of a run, event by
event: accesses, who grants a lock to whom, barriers, and when a Request for a page or for diffs is served. It says what
follows from that: which accesses fault, how many twins and diffs are made, which notices and intervals there are. It
does not know what is in a page. Collections are left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field


@dataclass(eq=False)
class Span:
    """An interval: what a process did between two synchronizations."""

    process: int
    number: int
    """Among those of its process, from 1."""
    pages: frozenset[int]


@dataclass
class Copy:
    """A page at one process."""

    here: bool
    contains: set[Span] = field(default_factory=set)
    """Intervals whose changes of the page are in it, own ones as far as a diff was made of them."""
    given: bool = False
    """Somebody else has a copy that came from here."""
    twin: bool = False
    undone: set[Span] = field(default_factory=set)
    """Own intervals with a notice of it, of which no diff was made."""


class Model:
    """Of one run. The counters are by process."""

    def __init__(self, processes: int, pages: int) -> None:
        self._processes = range(processes)
        self._copies = [[Copy(one == 0) for _ in range(pages)] for one in self._processes]
        self._known: list[set[Span]] = [set() for _ in self._processes]
        self._granted: dict[int, set[Span]] = {}
        self._diff_of: dict[tuple[Span, int], frozenset[Span]] = {}
        """By interval and page the intervals that one diff covers."""
        self._writes: dict[int, int] = {}
        """By process the page that it is about to write."""
        self.faults: Counter[int] = Counter()
        self.twins: Counter[int] = Counter()
        self.diffs: Counter[int] = Counter()
        self.notices: Counter[int] = Counter()
        self.intervals: Counter[int] = Counter()

    # ---- accesses

    def _missing(self, process: int, page: int) -> set[Span]:
        """Known intervals of others that have changed a page, and are not in the copy."""
        found = {span for span in self._known[process] if page in span.pages and span.process != process}
        return found - self._copies[process][page].contains

    def access(self, process: int, page: int, write: bool) -> None:
        """An access that is about to be made."""
        copy = self._copies[process][page]
        if not copy.here or self._missing(process, page) or (write and not copy.twin):
            self.faults[process] += 1
        if write:
            self._writes[process] = page

    def valid(self, process: int, page: int) -> None:
        """A page is here, with the changes of all intervals that are known."""
        copy = self._copies[process][page]
        for span in self._missing(process, page):
            copy.contains |= self._diff_of[span, page]
        copy.here = True

    def twin(self, process: int, page: int) -> None:
        """A fault gives a page its twin, for the write that is about to be made."""
        copy = self._copies[process][page]
        if not copy.twin:
            copy.twin = True
            self.twins[process] += 1

    def accessed(self, process: int, page: int, write: bool) -> None:
        """It was made: the page has a twin if it was written."""
        if write:
            self.twin(process, page)
            del self._writes[process]

    def gave_page(self, holder: int, page: int, to: int) -> None:
        """The holder has served a Request for a page as a whole."""
        copy = self._copies[holder][page]
        if not copy.given and copy.twin:  # the first copy has all that was written: no diff of it is ever asked for
            copy.contains |= copy.undone
            copy.undone, copy.twin = set(), False
            if self._writes.get(holder) == page:  # the write has not been made, and faults once more
                self.faults[holder] += 1
        copy.given = True
        self._copies[to][page].contains |= copy.contains

    def asked_diffs(self, process: int, page: int, last: int) -> None:
        """A Request for diffs of a page is served, of own intervals up to the `last` one among them (0: none)."""
        if any(span.number <= last for span in self._copies[process][page].undone):
            self._diff(process, page)

    def _diff(self, process: int, page: int) -> None:
        copy = self._copies[process][page]
        covered = frozenset(copy.undone)
        self._diff_of.update({(span, page): covered for span in covered})
        copy.contains |= covered
        copy.undone, copy.twin = set(), False
        self.diffs[process] += 1

    # ---- synchronization

    def ends(self, process: int) -> None:
        """An interval of a process ends."""
        copies = self._copies[process]
        pages = frozenset(page for page, copy in enumerate(copies) if copy.twin)
        if pages:
            self.intervals[process] += 1
            span = Span(process, self.intervals[process], pages)
            self._known[process].add(span)
            self.notices[process] += len(pages)
            for page in pages:
                copies[page].undone.add(span)

    def granted(self, holder: int, lock: int) -> None:
        """A lock is on its way from who released it, with all that this process knows."""
        self._granted[lock] = set(self._known[holder])

    def acquired(self, process: int, lock: int) -> None:
        """It has come."""
        self._learn(process, self._granted.pop(lock))

    def barrier(self) -> None:
        """All have arrived; their intervals have ended."""
        all_of = set().union(*self._known)
        for process in self._processes:
            self._learn(process, all_of)

    def _learn(self, process: int, spans: Iterable[Span]) -> None:
        new = set(spans) - self._known[process]
        for page in sorted({page for span in new for page in span.pages}):
            if self._copies[process][page].twin:
                self._diff(process, page)
        self._known[process] |= new
