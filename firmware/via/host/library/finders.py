"""How a completion queue finds what is done (paper 001, 2.2.4).

CQ1: the NIC writes an entry for each completion, and the application looks at the next entry. CQ2: there is no queue;
to look is to look at every work queue that belongs to it.
"""

from __future__ import annotations

from collections import deque
from typing import Protocol

from firmware.via.host.common.errors import Result, VipError
from firmware.via.host.common.work_queues import RECEIVED
from firmware.via.host.library.entry_ring import SIDE, VI, EntryRing
from firmware.via.host.library.looking import spin_on
from firmware.via.host.library.vi import Vi
from firmware.via.host.library.work_queue import WorkQueue
from pymodels.host import Moves, Process


class Finder(Protocol):
    """How a completion queue finds what is done."""

    def attach(self, vi: Vi, queue: WorkQueue) -> None:
        """One work queue more."""

    def detach(self, vi: Vi) -> None:
        """A VI is no more."""

    def over(self) -> bool:
        """Whether there is something."""

    async def look(self) -> tuple[Vi, bool] | None:
        """Take the oldest completion: VI, and whether it is a receive; None when there is none."""

    async def spin(self) -> None:
        """Spin until there is something."""

    def watches(self) -> list[tuple[int, int]]:
        """The words on which it spins, each (virtual address, value it has now)."""

    def grow(self, ring: EntryRing) -> None:
        """There is room for another number of completions."""

    def release(self) -> None:
        """Nobody uses it any more."""


class Entries:
    """CQ1: a ring of words that the NIC writes."""

    def __init__(self, process: Process, ring: EntryRing) -> None:
        self._process, self._rings = process, deque([ring])
        self._moves = Moves()
        self._vis: dict[tuple[int, int], Vi] = {}

    def attach(self, vi: Vi, queue: WorkQueue) -> None:
        """Know it by VI and side."""
        self._vis[vi.number, queue.side] = vi

    def detach(self, vi: Vi) -> None:
        """Forget its queues, and entries of theirs that nobody has taken."""
        for key in [key for key in self._vis if key[0] == vi.number]:
            del self._vis[key]
        for ring in self._rings:
            ring.forget(vi.number)

    def over(self) -> bool:
        """Whether the next entry is there."""
        return any(ring.word for ring in self._rings)

    def grow(self, ring: EntryRing) -> None:
        """The NIC writes into another ring from now on; what it wrote before is taken first."""
        self._rings.append(ring)
        self._moves.moved()

    def release(self) -> None:
        """Give all rings back."""
        self._moves.moved()
        while self._rings:
            self._rings.popleft().release()

    async def look(self) -> tuple[Vi, bool] | None:
        """The next entry."""
        while len(self._rings) > 1 and not self._rings[0].word:
            self._rings.popleft().release()
        if not self.over():
            await self._process.spend("look_entry")
            return None
        self._moves.moved()
        word = self._rings[0].take()
        await self._process.spend("look_entry")
        await self._process.spend("take_entry")
        side = word >> SIDE
        vi = self._vis.get((word & VI, side))
        return await self.look() if vi is None else (vi, side == RECEIVED)

    async def spin(self) -> None:
        """On the next entry."""
        await self._process.poll(self.watches(), "look_entry", self._moves)

    def watches(self) -> list[tuple[int, int]]:
        """The next entry of each ring."""
        return [(ring.place, 0) for ring in self._rings]


class Looks:
    """CQ2: the work queues themselves."""

    def __init__(self, process: Process, ring: EntryRing) -> None:
        self._process, self._ring = process, ring
        self._queues: list[tuple[Vi, WorkQueue]] = []
        self._next = 0
        self._moves = Moves()

    def attach(self, vi: Vi, queue: WorkQueue) -> None:
        """One more to look at."""
        self._queues.append((vi, queue))
        queue.moves = self._moves

    def detach(self, vi: Vi) -> None:
        """Look at its queues no longer."""
        self._queues = [one for one in self._queues if one[0] is not vi]
        self._moves.moved()

    def grow(self, ring: EntryRing) -> None:
        """Nothing is written into a ring."""
        self._ring.release()
        self._ring = ring

    def release(self) -> None:
        """Give the ring back."""
        self._moves.moved()
        self._ring.release()

    def over(self) -> bool:
        """Whether any has something new."""
        return any(queue.news() for _, queue in self._queues)

    async def look(self) -> tuple[Vi, bool] | None:
        """Look at one after the other, from where the last look ended."""
        for turn in range(len(self._queues)):
            vi, queue = self._queues[(self._next + turn) % len(self._queues)]
            await self._process.spend("look_done")
            if queue.news():
                self._next = (self._next + turn + 1) % len(self._queues)
                queue.told += 1
                self._moves.moved()
                return vi, queue.side == RECEIVED
        return None

    async def spin(self) -> None:
        """On the statuses of all that is posted."""
        watches = self.watches()
        if not watches:
            raise VipError(Result.INVALID_STATE, "waiting for a completion where nothing is posted", "post something")
        if not self.over():
            await spin_on(self._process, watches, self._moves)

    def watches(self) -> list[tuple[int, int]]:
        """The statuses of all that is posted and not reported."""
        return [(place, 0) for _, queue in self._queues if (place := queue.awaited()) is not None]
