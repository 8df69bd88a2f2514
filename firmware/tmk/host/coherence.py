"""Lazy release consistency: intervals, vectors and write notices; pages are updated when they are accessed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from firmware.tmk.host.errors import TmkError
from firmware.tmk.host.memory import Memory
from firmware.tmk.host.substrate import Substrate
from firmware.tmk.host.wire import Diff, Interval, Kind, Message, numbers, pack_diffs, unpack_diffs, words
from pymodels.host import Rights


class Coherence:
    """Coherence state of one process."""

    def __init__(self, substrate: Substrate, memory: Memory) -> None:
        self.substrate, self.memory = substrate, memory
        self.me, self.nodes = substrate.me, substrate.nodes
        self.vector = [0] * self.nodes
        """Last known interval of each process."""
        self.known: list[list[Interval]] = [[] for _ in range(self.nodes)]
        """Known intervals since the last collection, by process."""
        self.base = [0] * self.nodes
        """Last collected interval of each process."""
        self._dirty: set[int] = set()
        """Pages with a twin."""
        self._sequence = 0
        self.notices = 0
        """Number of write notices created by this process."""
        self.bytes = 0
        """Bytes of kept intervals and notices."""

    def sequence(self) -> int:
        """Return the sequence number of the next Request."""
        self._sequence += 1
        return self._sequence

    # ---- intervals

    async def end_interval(self) -> None:
        """End the interval at a synchronisation: create a notice for each page with a twin."""
        if not self._dirty:
            return
        self.vector[self.me] += 1
        interval = Interval(self.me, self.vector[self.me], tuple(self.vector), tuple(sorted(self._dirty)))
        await self.substrate.process.spend("tmk_interval")
        await self.substrate.process.spend("tmk_notice", len(interval.pages))
        self.notices += len(interval.pages)
        self._remember(interval)

    def _remember(self, interval: Interval) -> None:
        self.known[interval.process].append(interval)
        self.bytes += 4 * (self.nodes + 3 + 2 * len(interval.pages))

    def lacked_by(self, vector: Sequence[int]) -> list[Interval]:
        """Return the intervals unknown to a process with this vector."""
        return [one for one in self._all() if one.number > vector[one.process]]

    def own_since(self, index: int) -> list[Interval]:
        """Return the process's own intervals after `index`."""
        return [one for one in self.known[self.me] if one.number > index]

    def _all(self) -> list[Interval]:
        return [one for known in self.known for one in known]

    async def learn(self, intervals: Sequence[Interval]) -> None:
        """Record intervals of others: invalidate the pages in their notices, making the diffs of dirty pages first."""
        process = self.substrate.process
        for one in sorted(intervals, key=lambda one: (one.process, one.number)):
            if one.number <= self.vector[one.process]:
                continue
            await process.spend("tmk_interval")
            await process.spend("tmk_notice", len(one.pages))
            self.vector[one.process] = one.number
            self._remember(one)
            for page in one.pages:
                state = self.memory.pages[page]
                if state.twin:  # so all words of a diff were written with the same knowledge of the page
                    await self.make_diff(page)
                if state.have[one.process] >= one.number:
                    continue
                state.pending[one.process] = one.number
                await self.memory.allow(page, Rights.NONE)

    async def make_diff(self, page: int) -> None:
        """Make the diff of a page that has a twin."""
        self._dirty.discard(page)
        await self.memory.diff(page, self.vector[self.me])

    # ---- misses

    async def write(self, page: int) -> None:
        """Handle the first write to a valid page."""
        await self.memory.twin(page, self.vector[self.me] + 1)
        self._dirty.add(page)

    async def validate(self, page: int) -> None:
        """Update a page: fetch it if it was never here, then fetch and apply the diffs of all notices."""
        memory, state = self.memory, self.memory.pages[page]
        if not state.whole:
            await self._fetch(page)
        fetched: list[Diff] = []
        rounds = 0
        while lacking := self._lacking(page, fetched):
            found = await self._ask(page, lacking, again=rounds > 0)
            fetched += [one for one in found if one not in fetched]
            rounds += 1
        for diff in fetched:
            memory.keep(page, diff)
        fetched.sort(key=self._order)
        await memory.change(page, fetched)
        state.pending.clear()
        await memory.allow(page, Rights.READ)

    def _order(self, diff: Diff) -> tuple[int, int]:
        """Return the sort key of a diff: diffs are applied in the order of their vectors.

        All intervals of a diff have the same knowledge of the page's other writers.
        """
        vector = self.interval(diff.process, diff.first).vector
        return sum(vector), diff.process

    def interval(self, process: int, index: int) -> Interval:
        """Return a known interval, created since the last collection."""
        known = self.known[process]
        return known[index - known[0].number]

    def _lacking(self, page: int, fetched: Sequence[Diff]) -> dict[int, list[int]]:
        """Return the intervals by process that have notices of the page and whose changes are still missing."""
        state, found = self.memory.pages[page], {}
        for process, last in state.pending.items():
            after, covered = state.have[process], [one for one in fetched if one.process == process]
            lacking = [
                one.number
                for one in self.known[process]
                if after < one.number <= last
                and page in one.pages
                and not any(diff.first <= one.number <= diff.last for diff in covered)
            ]
            if lacking:
                found[process] = lacking
        return found

    async def _fetch(self, page: int) -> None:
        """Fetch a complete page from its holder."""
        state, holder = self.memory.pages[page], self.memory.holder[page]
        (answer,) = await self.request_all({holder: Message(Kind.PAGE, self.me, page, self.sequence())}, f"page {page}")
        state.have = list(numbers(answer.body, 0, self.nodes))
        await self.memory.store(page, answer.body[4 * self.nodes :])
        state.whole = True
        self.memory.settle(page)

    async def _ask(self, page: int, lacking: dict[int, list[int]], again: bool) -> list[Diff]:
        """Request the missing diffs of a page.

        They are requested from processes whose last interval no other covers, which have the others' diffs, too. With
        `again`, each process gets a request for its own diffs: an earlier reply lacked those that it received within
        the complete page.
        """
        wanted: dict[int, list[int]] = defaultdict(list)
        for one, numbers_of in lacking.items():
            wanted[one if again else self._latest(one, lacking)] += [one, numbers_of[0] - 1, numbers_of[-1]]
        requests = {to: Message(Kind.DIFFS, self.me, page, self.sequence(), words(body)) for to, body in wanted.items()}
        answers = await self.request_all(requests, f"diffs of page {page}")
        return [diff for answer in answers for diff in unpack_diffs(answer.body)]

    def _latest(self, process: int, lacking: dict[int, list[int]]) -> int:
        """Return a process that knew this one's intervals and that no other covers."""
        while True:
            covering = [
                one
                for one, numbers_of in lacking.items()
                if one != process and self.interval(one, numbers_of[-1]).vector[process] >= lacking[process][-1]
            ]
            if not covering:
                return process
            process = covering[0]

    async def request_all(self, requests: dict[int, Message], what: str) -> list[Message]:
        """Send Requests to several processes and return their Responses."""
        for to, request in requests.items():
            await self.substrate.send(to, request)
        due, answers = {request.sequence for request in requests.values()}, []
        while due:
            answer = await self.substrate.response(what, requests.keys())
            due.remove(answer.sequence)
            answers.append(answer)
        return answers

    # ---- Requests of others

    async def give_page(self, asked: Message) -> None:
        """Send a complete page and the intervals that it contains.

        The first copy contains all writes made here so far, so no diff of them will be requested.
        """
        state = self.memory.pages[asked.number]
        if state.twin and not state.given:
            self._dirty.discard(asked.number)
            state.have[self.me] = self.vector[self.me]
            await self.memory.drop_twin(asked.number)
        state.given = True
        data = words(state.have) + await self.memory.load(asked.number)
        await self.substrate.send(asked.source, Message(Kind.WHOLE, self.me, asked.number, asked.sequence, data))

    async def give_diffs(self, asked: Message) -> None:
        """Send the requested diffs of a page that are available here, making an own one if necessary."""
        state, found = self.memory.pages[asked.number], []
        flat = numbers(asked.body, 0, len(asked.body) // 4)
        for process, after, last in zip(flat[::3], flat[1::3], flat[2::3], strict=True):
            if last <= self.base[process]:
                who, what = self.substrate.process.who, f"diffs of page {asked.number} up to interval {last}"
                cause = f"process {asked.source} requests them, but they were collected up to {self.base[process]}"
                raise TmkError(f"{who}: {what}", cause, "validate a page before the collection")
            if process == self.me and state.twin and state.since <= last:
                await self.make_diff(asked.number)
            found += [one for one in state.diffs if one.process == process and one.last > after and one.first <= last]
        await self.substrate.process.spend("tmk_find", 1 + len(state.diffs))
        answer = Message(Kind.FOUND, self.me, asked.number, asked.sequence, pack_diffs(found))
        await self.substrate.send(asked.source, answer)

    # ---- collection

    @property
    def kept(self) -> int:
        """Bytes of diffs, notices and intervals."""
        return self.bytes + self.memory.bytes

    def written(self) -> dict[int, set[int]]:
        """Return the writers of each page since the last collection."""
        found: dict[int, set[int]] = defaultdict(set)
        for one in self._all():
            for page in one.pages:
                found[page].add(one.process)
        return found

    async def validate_written(self) -> None:
        """Update all pages written by this process, before records are dropped."""
        for page, writers in sorted(self.written().items()):
            if self.me in writers and self.memory.pages[page].pending:
                await self.validate(page)

    async def collect(self) -> None:
        """Drop all records. The first writer of each page becomes its holder."""
        for page, writers in sorted(self.written().items()):
            state = self.memory.pages[page]
            self.memory.holder[page] = min(writers)
            state.pending.clear()
            state.diffs.clear()
            state.given = len(writers) > 1
            if state.twin:
                self._dirty.discard(page)
                await self.memory.drop_twin(page)
            if self.me not in writers:
                state.whole = False
                await self.memory.allow(page, Rights.NONE)
        for state in self.memory.pages:
            if state.whole:
                state.have = list(self.vector)
        self.known = [[] for _ in range(self.nodes)]
        self.base, self.bytes, self.memory.bytes = list(self.vector), 0, 0
