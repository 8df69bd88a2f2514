"""A completion queue of a process and its reference: it tells of every completion of its work queues once, in as many
words as are posted, or says that it was overrun.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sized
from typing import Protocol

from firmware.via.host import Result, VipError
from firmware.via.host.library.completion_queue import CompletionQueue

UNDER_WAY = 1
"""Descriptors whose statuses are in memory before their entries are."""


class Witness(Protocol):
    """Who looks at a completion queue."""

    def wrong(self, text: str) -> None:
        """Something that must not be."""


class Queue(Witness, Protocol):
    """A work queue, as far as a completion queue concerns it."""

    @property
    def key(self) -> tuple[int, bool]:
        """Number of its VI, and whether it is the receive queue."""

    @property
    def posted(self) -> Sized:
        """What was posted, and not taken back."""

    @property
    def waiting(self) -> int:
        """How many of that are not done, as far as the process can see."""


class Completions:
    """A completion queue."""

    def __init__(self, queue: CompletionQueue, entries: int, written: bool, shared: bool) -> None:
        """`written`: the NIC writes entries, of which some are lost when there are too many. `shared`: by connections
        that do not wait for each other.
        """
        self.queue, self.entries, self._written, self.shared = queue, entries, written, shared
        self._attached: dict[tuple[int, bool], Queue] = {}
        self._told: Counter[tuple[int, bool]] = Counter()
        """Descriptors that it has told of, and that were not taken back."""
        self._crowded = False
        """More was posted than it has entries, so it may have been overrun."""
        self._resized = False
        self.overrun = False
        """It was: it is not known any more of what it will tell."""

    def attach(self, queue: Queue) -> None:
        """A work queue whose completions come here."""
        self._attached[queue.key] = queue

    def detach(self, queue: Queue) -> None:
        """Its VI is no more."""
        self._attached.pop(queue.key, None)
        del self._told[queue.key]

    def posted(self) -> None:
        """One descriptor more."""
        self._crowded |= self._written and self._untold > self.entries

    @property
    def _untold(self) -> int:
        return sum(len(queue.posted) for queue in self._attached.values()) - self._told.total()

    @property
    def sure(self) -> bool:
        """It tells of all that is posted."""
        return not (self._crowded or self.overrun)

    def untold(self, queue: Queue) -> int:
        """Descriptors of a work queue of which it has still to tell."""
        return len(queue.posted) - self._told[queue.key]

    async def resize(self, entries: int) -> None:
        """Another size. Until it has that, it has the smaller one of both."""
        self._resized, self.entries = True, min(entries, self.entries)
        self.posted()
        await self.queue.resize(entries)

    async def tells(self, queue: Queue) -> bool:
        """Whether the oldest descriptor of a work queue is said to be done. After an overrun nobody knows."""
        key = queue.key
        while not self._told[key] and await self.look(queue):
            pass
        if self.overrun:
            return True
        self._told[key] -= (told := self._told[key] > 0)
        return told

    async def look(self, queue: Queue) -> bool:
        """Take the next completion; whether there was one. `queue`: who looks."""
        lost = self._crowded and not self._resized and self._done - UNDER_WAY > self.entries
        try:
            found = await self.queue.done()
        except VipError as error:
            self.refused(queue, error)
            return True
        if lost and not self.overrun:
            queue.wrong(f"a completion queue of {self.entries} entries was overrun, and does not say so")
        if found is not None:
            self.came(queue, found[0].number, found[1])
        return found is not None

    @property
    def _done(self) -> int:
        """Descriptors that are done, and of which it has not told."""
        return sum(len(queue.posted) - queue.waiting for queue in self._attached.values()) - self._told.total()

    def came(self, who: Witness, vi: int, receive: bool) -> None:
        """It has told of a completion."""
        if (vi, receive) not in self._attached:
            who.wrong(f"a completion queue told of VI {vi}, receive {receive}, which is none of its")
        self._told[vi, receive] += not self.overrun

    def refused(self, who: Witness, error: VipError) -> None:
        """A look at it was refused: it has been overrun."""
        if error.result is not Result.ERROR_RESOURCE or not self._crowded:
            who.wrong(f"looking at a completion queue: {error}")
        self.overrun = True
        self._told.clear()
