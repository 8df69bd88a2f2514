"""Random programs of shared memory without data races, and monitored runs of them.

A word belongs to a lock and is accessed only under it, or it belongs to a process for the time between two barriers. In
that time no other process accesses it; if no process writes it, all may read. Words of all kinds share pages. So each
read has one right value: that of the last write in simulated time.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

from firmware.tmk.host import Tmk
from firmware.tmk.host.wire import Interval, Message, numbers
from pymodels.host import PAGE
from tb.studies.tmk._model import Model

LOCKS = 3
WORDS = 12
"""Offsets of the words of a page, far apart."""
STEP = PAGE // WORDS // 4 * 4


class Watched:
    """Monitored run: expected memory, and the model that gets the schedule."""

    def __init__(self, processes: Sequence[Tmk], pages: int, told: bool = True) -> None:
        """Monitor started processes. The model is unused without the schedule, since it does not cover collections."""
        self.all, self.nodes, self.pages = processes, len(processes), pages
        self.model = Model(self.nodes, pages)
        self.memory: dict[int, int] = {}
        """Expected value, by number of the word."""
        self.reads = self.written = 0
        self._told = told
        if told:
            for tmk in processes:
                self._watch(tmk)
                self._watch_ends(tmk)
            self._watch_barriers(processes[0])

    def _watch(self, tmk: Tmk) -> None:
        """Report services of Requests, ends of intervals and lock grants of a process to the model."""
        coherence, model, me = tmk.coherence, self.model, tmk.proc_id
        self._before(coherence, "end_interval", lambda: model.ends(me))
        self._before(coherence, "write", lambda page: model.twin(me, page))
        self._before(tmk.locks, "_grant", lambda lock, request: model.granted(me, request.number))

        def page(asked: Message) -> None:
            model.gave_page(me, asked.number, asked.source)

        def diffs(asked: Message) -> None:
            flat = numbers(asked.body, 0, len(asked.body) // 4)
            own = [last for process, last in zip(flat[::3], flat[2::3], strict=True) if process == me]
            model.asked_diffs(me, asked.number, max(own, default=0))

        self._before(coherence, "give_page", page, tmk)
        self._before(coherence, "give_diffs", diffs, tmk)

    def _watch_barriers(self, manager: Tmk) -> None:
        """Report a barrier to the model when the manager has all arrivals."""
        managing = [False]
        manage, learn = manager.barriers._manage, manager.coherence.learn

        async def manages(number: int, full: bool) -> bool:
            managing[0] = True
            return await manage(number, full)

        async def learns(intervals: Sequence[Interval]) -> None:
            if managing[0]:
                managing[0] = False
                self.model.barrier()
            await learn(intervals)

        manager.barriers._manage = manages  # type: ignore[method-assign]
        manager.coherence.learn = learns  # type: ignore[method-assign]

    def _watch_ends(self, tmk: Tmk) -> None:
        """Report received messages to the model before deferred Requests are served."""
        acquire, validate, model, me = tmk.locks.acquire, tmk.coherence.validate, self.model, tmk.proc_id

        async def acquires(number: int) -> None:
            remote = tmk.locks.remote
            await acquire(number)
            if tmk.locks.remote != remote:
                model.acquired(me, number)

        async def validates(page: int) -> None:
            await validate(page)
            model.valid(me, page)

        tmk.locks.acquire = acquires  # type: ignore[method-assign]
        tmk.coherence.validate = validates  # type: ignore[method-assign]

    def _before(self, what: Any, name: str, tell: Callable[..., None], tmk: Tmk | None = None) -> None:
        original = getattr(what, name)

        async def told(*arguments: Any) -> None:
            tell(*arguments)
            await original(*arguments)

        setattr(what, name, told)
        if tmk is not None:
            kind = next(kind for kind, call in tmk._serving.items() if call == original)
            tmk._serving[kind] = told

    # ---- actions of programs

    async def touch(self, tmk: Tmk, word: int, write: bool) -> None:
        """Read and compare a word, or write a new value."""
        page, va = word // WORDS, tmk.memory.base + word // WORDS * PAGE + word % WORDS * STEP
        if self._told:
            self.model.access(tmk.proc_id, page, write)
        if write:
            self.written += 1
            value = self.written
            await tmk.process.write(va, value.to_bytes(4, "big"))
            self.memory[word] = value
        else:
            self.reads += 1
            found = int.from_bytes(await tmk.process.read(va, 4), "big")
            right = self.memory.get(word, 0)
            assert found == right, f"process {tmk.proc_id} read {found} in word {word}, and {right} is right"
        if self._told:
            self.model.accessed(tmk.proc_id, page, write)

    async def locked(self, tmk: Tmk, lock: int, rng: random.Random) -> None:
        """Run a critical section of the program."""
        await tmk.lock_acquire(lock)
        mine = [word for word in range(WORDS * self.pages) if self.owner(word) == lock]
        for _ in range(rng.randrange(1, 4)):
            await self.touch(tmk, rng.choice(mine), rng.random() < 0.6)
            if rng.random() < 0.3:
                await tmk.process.compute(rng.randrange(200_000))
        await tmk.lock_release(lock)

    def owner(self, word: int) -> int:
        """Return the lock of a word; LOCKS or more means none."""
        return word * 7 % (2 * LOCKS)

    async def _phases(self, tmk: Tmk, phases: int, seed: int) -> None:
        """Return the actions between barriers."""
        rng = random.Random(seed * 1000 + tmk.proc_id)
        free = [word for word in range(WORDS * self.pages) if self.owner(word) >= LOCKS]
        for phase in range(phases):
            shares = random.Random(seed * 77 + phase)
            to = {word: shares.randrange(self.nodes + 2) for word in free}
            mine = [word for word in free if to[word] == tmk.proc_id]
            readable = [word for word in free if to[word] >= self.nodes]
            for _ in range(rng.randrange(8)):
                what = rng.random()
                if what < 0.4:
                    await self.locked(tmk, rng.randrange(LOCKS), rng)
                elif what < 0.7 and mine:
                    await self.touch(tmk, rng.choice(mine), rng.random() < 0.8)
                elif what < 0.9 and readable:
                    await self.touch(tmk, rng.choice(readable), False)
                else:
                    await tmk.process.compute(rng.randrange(300_000))
            await tmk.barrier(phase % 5)

    async def program(self, tmk: Tmk, seed: int, phases: int) -> None:
        """Run one process from `startup` to `exit`."""
        if tmk.proc_id == 0:
            tmk.malloc(PAGE * self.pages)
            await tmk.distribute(b"")
        await tmk.barrier(0)
        await self._phases(tmk, phases, seed)
        for word in range(WORDS * self.pages):
            await self.touch(tmk, word, False)
        await tmk.exit()

    def counts(self) -> list[dict[str, list[int]]]:
        """Return the counts of each process, of the run and of the model, by name."""
        model, of = self.model, range(self.nodes)
        names = "faults", "twins", "diffs", "notices", "intervals"
        run = {
            "faults": [tmk.process.faults for tmk in self.all],
            "twins": [tmk.memory.twins for tmk in self.all],
            "diffs": [tmk.memory.diffs for tmk in self.all],
            "notices": [tmk.coherence.notices for tmk in self.all],
            "intervals": [tmk.coherence.vector[tmk.proc_id] for tmk in self.all],
        }
        return [run, {name: [getattr(model, name)[one] for one in of] for name in names}]
