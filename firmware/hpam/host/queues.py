"""A queue of whole messages in the memory of a process, pinned, so that the daemon can fill and empty it too."""

from __future__ import annotations

from collections import deque

from pymodels.host.pages import PAGE
from pymodels.host.process import Process
from pymodels.nics.fifo.registers import Size

SLOT = int(Size.BUFFER)


class Queue:
    """First in, first out."""

    def __init__(self, process: Process, slots: int) -> None:
        self._process, self._slots = process, slots
        self._va = process.allocate(SLOT * slots)
        self._frames = process.pin(self._va, SLOT * slots)
        self._put = self._taken = 0
        self.since: deque[int] = deque()
        """When each message that is in it was first put into a queue, in picoseconds."""

    def __len__(self) -> int:
        return self._put - self._taken

    @property
    def full(self) -> bool:
        """Whether it has no room."""
        return len(self) == self._slots

    def room(self) -> tuple[int, int]:
        """Where the next message goes: the process's address, and the physical one."""
        return self._place(self._put)

    def put(self, since: int) -> None:
        """It stands there."""
        self._put += 1
        self.since.append(since)

    def first(self) -> tuple[int, int]:
        """Where the oldest stands: the process's address, and the physical one."""
        return self._place(self._taken)

    def take(self) -> int:
        """It is taken; since when it was in queues."""
        self._taken += 1
        return self.since.popleft()

    def free(self, slots: int) -> None:
        """Give the memory back."""
        self._process.unpin(self._va, SLOT * slots)
        self._process.free(self._va, SLOT * slots)

    def _place(self, number: int) -> tuple[int, int]:
        offset = SLOT * (number % self._slots)
        return self._va + offset, self._frames[offset // PAGE] + offset % PAGE
