"""Queue of complete messages in pinned memory of a process, accessible to the daemon."""

from __future__ import annotations

from collections import deque

from pymodels.host.pages import PAGE
from pymodels.host.process import Process
from pymodels.nics.fifo.registers import Size

SLOT = int(Size.BUFFER)


class Queue:
    """FIFO queue of messages."""

    def __init__(self, process: Process, slots: int) -> None:
        self._process, self._slots = process, slots
        self._va = process.allocate(SLOT * slots)
        self._frames = process.pin(self._va, SLOT * slots)
        self._put = self._taken = 0
        self.since: deque[int] = deque()
        """Time at which each queued message entered its first queue, ps."""

    def __len__(self) -> int:
        return self._put - self._taken

    @property
    def full(self) -> bool:
        """True if the queue is full."""
        return len(self) == self._slots

    def room(self) -> tuple[int, int]:
        """Return virtual and physical address of the next free slot."""
        return self._place(self._put)

    def put(self, since: int) -> None:
        """Append the message in the next free slot."""
        self._put += 1
        self.since.append(since)

    def first(self) -> tuple[int, int]:
        """Return virtual and physical address of the oldest message."""
        return self._place(self._taken)

    def take(self) -> int:
        """Remove the oldest message. Return the time at which it entered its first queue, ps."""
        self._taken += 1
        return self.since.popleft()

    def free(self, slots: int) -> None:
        """Unpin and free the memory."""
        self._process.unpin(self._va, SLOT * slots)
        self._process.free(self._va, SLOT * slots)

    def _place(self, number: int) -> tuple[int, int]:
        offset = SLOT * (number % self._slots)
        return self._va + offset, self._frames[offset // PAGE] + offset % PAGE
