"""Completion queues: one place to look for what is done in many work queues (paper 001, 2.2.4).

CQ1: the NIC writes an entry for each completion, and the application looks at the next entry. CQ2: there is no queue;
to look is to look at every work queue that belongs to it.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Protocol

from firmware.host.lock import Lock
from firmware.host.via.common.checks import handler_of, time_limit
from firmware.host.via.common.errors import Result, VipError
from firmware.host.via.common.waiting import Handler, Limit
from firmware.host.via.kernel_agent.memory.translation import RECEIVED
from firmware.nic.via.layout import ROUND, ROUNDS
from pymodels.host.process import Process

if TYPE_CHECKING:
    from firmware.host.via.library.nic import VipNic
    from firmware.host.via.library.vi import Vi, WorkQueue

MOST_ENTRIES = 1024
"""Words in a page: the NIC knows a queue by one physical address (ours)."""
VI, SIDE = 0xFF, 8
"""Bits of an entry that name a VI, and where those of the side begin. VI 0 is no process's."""


class EntryRing:
    """A ring of words in a page of a process, which the NIC writes."""

    def __init__(self, process: Process, entries: int) -> None:
        self._process, self.entries = process, entries
        self._va = process.allocate(4 * entries)
        (self.physical,) = process.pin(self._va, 4 * entries)
        self._next = self._round = 0

    @property
    def place(self) -> int:
        """Virtual address of the next entry."""
        return self._va + 4 * self._next

    @property
    def word(self) -> int:
        """What stands there; 0: nothing yet."""
        return self._process.load_words(self.place, 1)[0]

    def take(self) -> int:
        """Take it. Raises VipError when the NIC has gone round the ring over entries that nobody had taken: those that
        are left are forgotten.
        """
        word = self.word
        if word >> ROUND & ROUNDS != self._round:
            self._forget_all()
            remedy = "look at all its work queues, and make it as large as all that is posted on them"
            raise VipError(Result.ERROR_RESOURCE, f"a completion queue of {self.entries} entries is overrun", remedy)
        self._process.store_words(self.place, (0,))  # at once: no other thread takes it too
        self._step()
        return word & (1 << ROUND) - 1

    def _step(self) -> None:
        self._next = (self._next + 1) % self.entries
        self._round = self._round + (not self._next) & ROUNDS

    def _forget_all(self) -> None:
        """Go on where the NIC writes next: behind the entries of its last round."""
        words = self._process.load_words(self._va, self.entries)
        last = words[0] >> ROUND & ROUNDS  # who has gone round has written it
        count = sum(bool(word) and word >> ROUND & ROUNDS == last for word in words)
        self._process.store_words(self._va, [0] * self.entries)
        self._next, self._round = count - 1, last
        self._step()

    def forget(self, vi: int) -> None:
        """Let entries of a VI be nobody's."""
        words = self._process.load_words(self._va, self.entries)
        self._process.store_words(self._va, [word & ~VI if word & VI == vi else word for word in words])

    def release(self) -> None:
        """Give its memory back; the NIC writes it no more."""
        self._process.unpin(self._va, 4 * self.entries)
        self._process.free(self._va, 4 * self.entries)


class Finder(Protocol):
    """How a completion queue finds what is done."""

    spinning: int
    """Threads that spin on what they know of it."""

    def attach(self, queue: WorkQueue) -> None:
        """One work queue more."""

    def detach(self, vi: Vi) -> None:
        """A VI is no more."""

    def over(self) -> bool:
        """Whether there is something."""

    async def look(self) -> tuple[Vi, bool] | None:
        """Take the oldest completion: VI, and whether it is a receive; None when there is none."""

    async def spin(self) -> None:
        """Spin until there is something."""

    def grow(self, ring: EntryRing) -> None:
        """There is room for another number of completions."""

    def release(self) -> None:
        """Nobody uses it any more."""


class Entries:
    """CQ1: a ring of words that the NIC writes."""

    def __init__(self, nic: VipNic, ring: EntryRing) -> None:
        self._process, self._rings = nic.process, deque([ring])
        self.spinning = 0
        self._queues: dict[tuple[int, int], WorkQueue] = {}

    def attach(self, queue: WorkQueue) -> None:
        """Know it by VI and side."""
        self._queues[queue.vi.number, queue.side] = queue

    def detach(self, vi: Vi) -> None:
        """Forget its queues, and entries of theirs that nobody has taken."""
        for key in [key for key in self._queues if key[0] == vi.number]:
            del self._queues[key]
        for ring in self._rings:
            ring.forget(vi.number)

    def over(self) -> bool:
        """Whether the next entry is there."""
        return any(ring.word for ring in self._rings)

    def grow(self, ring: EntryRing) -> None:
        """The NIC writes into another ring from now on; what it wrote before is taken first."""
        self._rings.append(ring)

    def release(self) -> None:
        """Give all rings back."""
        while self._rings:
            self._rings.popleft().release()

    async def look(self) -> tuple[Vi, bool] | None:
        """The next entry."""
        while len(self._rings) > 1 and not self._rings[0].word:
            self._rings.popleft().release()
        if not self.over():
            await self._process.spend("look_entry")
            return None
        word = self._rings[0].take()
        await self._process.spend("look_entry")
        await self._process.spend("take_entry")
        queue = self._queues.get((word & VI, word >> SIDE))
        return await self.look() if queue is None else (queue.vi, queue.side == RECEIVED)

    async def spin(self) -> None:
        """On the next entry."""
        self.spinning += 1
        await self._process.poll([(ring.place, 0) for ring in self._rings], "look_entry")
        self.spinning -= 1


class Looks:
    """CQ2: the work queues themselves."""

    def __init__(self, nic: VipNic, ring: EntryRing) -> None:
        self._process, self._ring = nic.process, ring
        self._queues: list[WorkQueue] = []
        self._next = self.spinning = 0

    def attach(self, queue: WorkQueue) -> None:
        """One more to look at."""
        self._queues.append(queue)

    def detach(self, vi: Vi) -> None:
        """Look at its queues no longer."""
        self._queues = [queue for queue in self._queues if queue.vi is not vi]

    def grow(self, ring: EntryRing) -> None:
        """Nothing is written into a ring."""
        self._ring.release()
        self._ring = ring

    def release(self) -> None:
        """Give the ring back."""
        self._ring.release()

    def over(self) -> bool:
        """Whether any has something new."""
        return any(queue.news() for queue in self._queues)

    async def look(self) -> tuple[Vi, bool] | None:
        """Look at one after the other, from where the last look ended."""
        for turn in range(len(self._queues)):
            queue = self._queues[(self._next + turn) % len(self._queues)]
            await self._process.spend("look_done")
            if queue.news():
                self._next = (self._next + turn + 1) % len(self._queues)
                queue.told += 1
                return queue.vi, queue.side == RECEIVED
        return None

    async def spin(self) -> None:
        """On the statuses of all that is posted."""
        watches = [(place, 0) for queue in self._queues if (place := queue.awaited()) is not None]
        if not watches:
            raise VipError(Result.INVALID_STATE, "waiting for a completion where nothing is posted", "post something")
        if not self.over():
            await self._process.poll(watches, "look_done")


class CompletionQueue:
    """VipCreateCQ's."""

    def __init__(self, nic: VipNic, number: int, ring: EntryRing) -> None:
        self._nic, self.number = nic, number
        self._finder: Finder = (Entries if nic.options.completion == "cq1" else Looks)(nic, ring)
        self.wants: list[tuple[int, int]] = []
        """The work queues whose completions come here: VI, side."""
        self.users = 0
        """VIs that are made to use it, or do."""
        self.destroyed = False
        self._resizing = Lock(nic.host, f"the end of a change of size of completion queue {number}")

    def attach(self, queue: WorkQueue) -> None:
        """A work queue whose completions come here."""
        self._finder.attach(queue)
        self.wants.append((queue.vi.number, queue.side))

    def detach(self, vi: Vi) -> None:
        """A VI that used it is no more."""
        self._finder.detach(vi)
        self.wants[:] = [want for want in self.wants if want[0] != vi.number]
        self.users -= 1

    def check(self, doing: str, process: Process | None = None) -> None:
        """Whether it is, and is a process's. Raises VipError."""
        if self.destroyed:
            what = f"{doing} completion queue {self.number}"
            raise VipError(Result.INVALID_PARAMETER, what, "it is destroyed: create another one")
        if process is not None and process is not self._nic.process:
            what = f"{doing} completion queue {self.number}"
            raise VipError(Result.INVALID_PARAMETER, what, "it is another process's: give one of this process")

    async def done(self) -> tuple[Vi, bool] | None:
        """VipCQDone: a VI with something done, and whether it is a receive. Raises VipError."""
        self.check("looking at")
        return await self._finder.look()

    async def poll(self) -> tuple[Vi, bool]:
        """VipCQDone again and again until it gives something. Raises VipError."""
        self.check("polling")
        while (found := await self._finder.look()) is None:
            async with self._resizing:
                pass  # who spins meanwhile would not know of the new ring
            await self._finder.spin()
        return found

    async def wait(self, timeout_us: float | None = None) -> tuple[Vi, bool]:
        """VipCQWait: sleep until there is something. Raises VipError: TIMEOUT."""
        time_limit(timeout_us, endless=True)
        self.check("waiting at")
        limit = Limit(self._nic.host, timeout_us)
        while (found := await self._finder.look()) is None:
            if limit.over:
                raise VipError(Result.TIMEOUT, "waiting for a completion", "wait longer")
            await self._nic.sleep(self._news, self.wants, limit.left_us)
            self.check("waiting at")
        return found

    def _news(self) -> bool:
        return self.destroyed or self._finder.over()

    def notify(self, handler: Handler) -> None:
        """VipCQNotify: call `handler(vi, is_receive)` in a thread of its own at the next completion. VipError."""
        self.check("waiting at")
        handler_of(handler)

        async def thread() -> None:
            """Sleep, then call."""
            called = handler(*await self.wait())
            if called is not None:
                await called

        self._nic.process.spawn(thread(), f"notify of completion queue {self.number}")

    async def destroy(self) -> None:
        """VipDestroyCQ. Raises VipError while a VI uses it."""
        self.check("destroying")
        if self.users:
            raise VipError(Result.ERROR_RESOURCE, "destroying a completion queue in use", "destroy its VIs first")
        self.destroyed = True  # at once: nobody begins to use it meanwhile
        async with self._resizing:
            await self._nic.forget_queue(self)
            self._finder.release()

    async def resize(self, entries: int) -> None:
        """VipResizeCQ: have room for so many completions; none is lost. Raises VipError, also while a thread spins."""
        async with self._resizing:
            self.check("resizing")
            if self._finder.spinning:
                what = "resizing a completion queue at which a thread polls"
                raise VipError(Result.INVALID_STATE, what, "let it wait by sleeping, or come back first")
            self._finder.grow(await self._nic.resize_cq(self, entries))
