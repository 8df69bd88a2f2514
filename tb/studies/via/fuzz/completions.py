"""Completion queue of a process and its reference model.

The queue reports every completion of its work queues once, in as many entries as descriptors are posted, or it reports
an overrun.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sized
from typing import Protocol

from firmware.via.host import Result, VipError
from firmware.via.host.library.completion_queue import CompletionQueue

UNDER_WAY = 1
"""Number of descriptors whose statuses may be in memory before their entries."""


class Witness(Protocol):
    """Observer of a completion queue that records errors."""

    def wrong(self, text: str) -> None:
        """Record an error."""


class Queue(Witness, Protocol):
    """Work queue, as modelled by a completion queue."""

    @property
    def key(self) -> tuple[int, bool]:
        """Number of the VI, and True for the receive queue."""

    @property
    def posted(self) -> Sized:
        """Descriptors that are posted and not dequeued."""

    @property
    def waiting(self) -> int:
        """Number of posted descriptors that are not finished, as far as the process can see."""


class Completions:
    """Completion queue and its reference model."""

    def __init__(self, queue: CompletionQueue, entries: int, written: bool, shared: bool) -> None:
        """Set up the model.

        Args:
            queue: the completion queue.
            entries: its size.
            written: True if the NIC writes entries, of which some are lost in an overrun.
            shared: True if several connections use it without waiting for each other.
        """
        self.queue, self.entries, self._written, self.shared = queue, entries, written, shared
        self._attached: dict[tuple[int, bool], Queue] = {}
        self._reported: Counter[tuple[int, bool]] = Counter()
        """Descriptors that were reported but not dequeued."""
        self._crowded = False
        """True if more descriptors were posted than it has entries, so that it may have been overrun."""
        self._resized = False
        self.overrun = False
        """True after an overrun: further reports are unpredictable."""

    def attach(self, queue: Queue) -> None:
        """Add a work queue that reports to this completion queue."""
        self._attached[queue.key] = queue

    def detach(self, queue: Queue) -> None:
        """Remove a work queue whose VI was destroyed."""
        self._attached.pop(queue.key, None)
        del self._reported[queue.key]

    def posted(self) -> None:
        """Account for one more posted descriptor."""
        self._crowded |= self._written and self._unreported > self.entries

    @property
    def _unreported(self) -> int:
        return sum(len(queue.posted) for queue in self._attached.values()) - self._reported.total()

    @property
    def sure(self) -> bool:
        """True if the queue must report all posted descriptors."""
        return not (self._crowded or self.overrun)

    def unreported(self, queue: Queue) -> int:
        """Return the number of descriptors of a work queue that are still to be reported."""
        return len(queue.posted) - self._reported[queue.key]

    async def resize(self, entries: int) -> None:
        """Change the size; until that is done, the smaller size counts."""
        self._resized, self.entries = True, min(entries, self.entries)
        self.posted()
        await self.queue.resize(entries)

    async def reports_done(self, queue: Queue) -> bool:
        """Return True if the oldest descriptor of a work queue is reported as finished; undefined after an overrun."""
        key = queue.key
        while not self._reported[key] and await self.look(queue):
            pass
        if self.overrun:
            return True
        self._reported[key] -= (was_reported := self._reported[key] > 0)
        return was_reported

    async def look(self, queue: Queue) -> bool:
        """Take the next completion for `queue` and return True if there was one."""
        lost = self._crowded and not self._resized and self._done - UNDER_WAY > self.entries
        try:
            found = await self.queue.done()
        except VipError as error:
            self.refused(queue, error)
            return True
        if lost and not self.overrun:
            queue.wrong(f"a completion queue of {self.entries} entries did not report its overrun")
        if found is not None:
            self.on_completion(queue, found[0].number, found[1])
        return found is not None

    @property
    def _done(self) -> int:
        """Number of descriptors that are finished but not reported."""
        return sum(len(queue.posted) - queue.waiting for queue in self._attached.values()) - self._reported.total()

    def on_completion(self, who: Witness, vi: int, receive: bool) -> None:
        """Check and account for a reported completion."""
        if (vi, receive) not in self._attached:
            who.wrong(f"a completion queue reported VI {vi}, receive {receive}, which does not belong to it")
        self._reported[vi, receive] += not self.overrun

    def refused(self, who: Witness, error: VipError) -> None:
        """Check that a failed poll of the queue is due to an overrun."""
        if error.result is not Result.ERROR_RESOURCE or not self._crowded:
            who.wrong(f"polling a completion queue: {error}")
        self.overrun = True
        self._reported.clear()
