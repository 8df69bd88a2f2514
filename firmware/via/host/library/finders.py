"""Search of a completion queue for completions (paper 001, 2.2.4).

CQ1: the NIC writes an entry for each completion, and the application reads the next entry. CQ2: without entries, the
application checks every work queue that belongs to the completion queue.
"""

from __future__ import annotations

from collections import deque
from typing import Protocol

from firmware.via.host.common.errors import Result, VipError
from firmware.via.host.common.work_queues import RECEIVED
from firmware.via.host.library.entry_ring import SIDE, VI, EntryRing
from firmware.via.host.library.spinning import spin_on
from firmware.via.host.library.vi import Vi
from firmware.via.host.library.work_queue import WorkQueue
from pymodels.host import Moves, Process


class Finder(Protocol):
    """Search for completions."""

    def attach(self, vi: Vi, queue: WorkQueue) -> None:
        """Add a work queue."""

    def detach(self, vi: Vi) -> None:
        """Remove a destroyed VI."""

    def over(self) -> bool:
        """Return True if a completion is available."""

    async def look(self) -> tuple[Vi, bool] | None:
        """Remove and return the oldest completion, as VI and True for a receive, or None."""

    async def spin(self) -> None:
        """Spin until a completion is available."""

    def watches(self) -> list[tuple[int, int]]:
        """Return virtual address and present value of the words that `spin` polls."""

    def grow(self, ring: EntryRing) -> None:
        """Replace the ring by one of another size."""

    def release(self) -> None:
        """Free the rings of a destroyed queue."""


class EntryRings:
    """Search with CQ1: a ring of words that the NIC writes."""

    def __init__(self, process: Process, ring: EntryRing) -> None:
        self._process, self._rings = process, deque([ring])
        self._moves = Moves()
        self._vis: dict[tuple[int, int], Vi] = {}

    def attach(self, vi: Vi, queue: WorkQueue) -> None:
        """Add a work queue by VI and side."""
        self._vis[vi.number, queue.side] = vi

    def detach(self, vi: Vi) -> None:
        """Remove the work queues of a VI, and their entries that were not taken."""
        for key in [key for key in self._vis if key[0] == vi.number]:
            del self._vis[key]
        for ring in self._rings:
            ring.forget(vi.number)

    def over(self) -> bool:
        """Return True if the next entry is written."""
        return any(ring.word for ring in self._rings)

    def grow(self, ring: EntryRing) -> None:
        """Add the NIC's new ring. The entries of earlier rings are taken first."""
        self._rings.append(ring)
        self._moves.moved()

    def release(self) -> None:
        """Free all rings."""
        self._moves.moved()
        while self._rings:
            self._rings.popleft().release()

    async def look(self) -> tuple[Vi, bool] | None:
        """Remove and return the next entry."""
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
        """Spin on the next entry."""
        await self._process.poll(self.watches(), "look_entry", self._moves)

    def watches(self) -> list[tuple[int, int]]:
        """Return the next entry of each ring."""
        return [(ring.place, 0) for ring in self._rings]


class WorkQueueScan:
    """Search with CQ2: the work queues themselves."""

    def __init__(self, process: Process, ring: EntryRing) -> None:
        self._process, self._ring = process, ring
        self._queues: list[tuple[Vi, WorkQueue]] = []
        self._next = 0
        self._moves = Moves()

    def attach(self, vi: Vi, queue: WorkQueue) -> None:
        """Add a work queue."""
        self._queues.append((vi, queue))
        queue.moves = self._moves

    def detach(self, vi: Vi) -> None:
        """Remove the work queues of a VI."""
        self._queues = [one for one in self._queues if one[0] is not vi]
        self._moves.moved()

    def grow(self, ring: EntryRing) -> None:
        """Replace the ring, which is not used."""
        self._ring.release()
        self._ring = ring

    def release(self) -> None:
        """Free the ring."""
        self._moves.moved()
        self._ring.release()

    def over(self) -> bool:
        """Return True if any work queue has a new completion."""
        return any(queue.news() for _, queue in self._queues)

    async def look(self) -> tuple[Vi, bool] | None:
        """Check the work queues in turn, from the end of the last search."""
        for turn in range(len(self._queues)):
            vi, queue = self._queues[(self._next + turn) % len(self._queues)]
            await self._process.spend("look_done")
            if queue.news():
                self._next = (self._next + turn + 1) % len(self._queues)
                queue.reported += 1
                self._moves.moved()
                return vi, queue.side == RECEIVED
        return None

    async def spin(self) -> None:
        """Spin on the statuses of all posted descriptors."""
        watches = self.watches()
        if not watches:
            raise VipError(
                Result.INVALID_STATE, "waiting for a completion without posted descriptors", "post a descriptor first"
            )
        if not self.over():
            await spin_on(self._process, watches, self._moves)

    def watches(self) -> list[tuple[int, int]]:
        """Return the status words of the oldest unreported descriptor of each work queue."""
        return [(place, 0) for _, queue in self._queues if (place := queue.awaited()) is not None]
