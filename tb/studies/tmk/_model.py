"""Set-based model of lazy release consistency, for the counts of a TreadMarks run.

Knowledge is a set of intervals, not a vector, and grows by union. The model gets the schedule of a run, event by event:
accesses, lock grants, barriers, and the services of Requests for pages and diffs. It computes which accesses fault, how
many twins and diffs are made, and which notices and intervals exist. It does not model page contents or collections.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field


@dataclass(eq=False)
class Span:
    """Interval of a process between two synchronisations."""

    process: int
    number: int
    """Number among the process's intervals, from 1."""
    pages: frozenset[int]


@dataclass
class Copy:
    """Copy of a page at one process."""

    here: bool
    contains: set[Span] = field(default_factory=set)
    """Intervals whose changes are in the copy; own ones as far as a diff of them was made."""
    given: bool = False
    """True if another process has a copy made from this one."""
    twin: bool = False
    undone: set[Span] = field(default_factory=set)
    """Own intervals with a notice of the page and without a diff."""


class Model:
    """Model of one run; its counters are by process."""

    def __init__(self, processes: int, pages: int) -> None:
        self._processes = range(processes)
        self._copies = [[Copy(one == 0) for _ in range(pages)] for one in self._processes]
        self._known: list[set[Span]] = [set() for _ in self._processes]
        self._granted: dict[int, set[Span]] = {}
        self._diff_of: dict[tuple[Span, int], frozenset[Span]] = {}
        """Intervals covered by one diff, by interval and page."""
        self._writes: dict[int, int] = {}
        """Page about to be written, by process."""
        self.faults: Counter[int] = Counter()
        self.twins: Counter[int] = Counter()
        self.diffs: Counter[int] = Counter()
        self.notices: Counter[int] = Counter()
        self.intervals: Counter[int] = Counter()

    # ---- accesses

    def _missing(self, process: int, page: int) -> set[Span]:
        """Return the known intervals of others that changed a page and are not in the copy."""
        found = {span for span in self._known[process] if page in span.pages and span.process != process}
        return found - self._copies[process][page].contains

    def access(self, process: int, page: int, write: bool) -> None:
        """Process an access that is about to be made."""
        copy = self._copies[process][page]
        if not copy.here or self._missing(process, page) or (write and not copy.twin):
            self.faults[process] += 1
        if write:
            self._writes[process] = page

    def valid(self, process: int, page: int) -> None:
        """Make a page valid with the changes of all known intervals."""
        copy = self._copies[process][page]
        for span in self._missing(process, page):
            copy.contains |= self._diff_of[span, page]
        copy.here = True

    def twin(self, process: int, page: int) -> None:
        """Make the twin of a page for the pending write."""
        copy = self._copies[process][page]
        if not copy.twin:
            copy.twin = True
            self.twins[process] += 1

    def accessed(self, process: int, page: int, write: bool) -> None:
        """Process a completed access: a written page has a twin."""
        if write:
            self.twin(process, page)
            del self._writes[process]

    def gave_page(self, holder: int, page: int, to: int) -> None:
        """Process the service of a Request for a complete page by its holder."""
        copy = self._copies[holder][page]
        if not copy.given and copy.twin:  # the first copy has all writes: no diff of them is requested
            copy.contains |= copy.undone
            copy.undone, copy.twin = set(), False
            if self._writes.get(holder) == page:  # the write has not been made, and faults once more
                self.faults[holder] += 1
        copy.given = True
        self._copies[to][page].contains |= copy.contains

    def asked_diffs(self, process: int, page: int, last: int) -> None:
        """Process the service of a Request for diffs of a page, for own intervals up to `last` (0: none)."""
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
        """End an interval of a process."""
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
        """Process the grant of a lock, which carries the releasing process's knowledge."""
        self._granted[lock] = set(self._known[holder])

    def acquired(self, process: int, lock: int) -> None:
        """Process the arrival of a grant."""
        self._learn(process, self._granted.pop(lock))

    def barrier(self) -> None:
        """Process a barrier that all processes have reached with ended intervals."""
        all_of = set().union(*self._known)
        for process in self._processes:
            self._learn(process, all_of)

    def _learn(self, process: int, spans: Iterable[Span]) -> None:
        new = set(spans) - self._known[process]
        for page in sorted({page for span in new for page in span.pages}):
            if self._copies[process][page].twin:
                self._diff(process, page)
        self._known[process] |= new
