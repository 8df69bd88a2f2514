"""Resources in use by an endpoint: credits of destinations, descriptors, staging blocks of its send queues."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from firmware.am2.nic.layout import BLOCKS_A_QUEUE, DESCRIPTORS
from firmware.am2.nic.words import Queue

NUMBERS = 1 << 16


@dataclass
class SendQueue:
    """Host's side of a send queue."""

    queue: Queue
    posted: int = 0
    """Number of descriptors given to the NIC, since the start."""
    freed: int = 0
    """Number of descriptors that the NIC has freed, as of the last read."""
    word: int = 0
    """NIC's status word of the queue, as of the last read."""
    taken_back: int = 0
    """Number of returned messages that no longer need their staging blocks."""
    blocks: list[int] = field(default_factory=lambda: [-1] * BLOCKS_A_QUEUE)
    """Index of the last descriptor that named each staging block."""

    @property
    def full(self) -> bool:
        """True if no descriptor is known to be free."""
        return self.posted - self.freed >= DESCRIPTORS

    def update(self, word: int) -> None:
        """Update the counts from the NIC's status word."""
        self.word = word
        self.freed += ((word >> 16) - self.freed) % NUMBERS

    @property
    def back(self) -> bool:
        """True if returned messages are still in their staging blocks, as of the last read."""
        return (self.word - self.taken_back) % NUMBERS != 0

    def block(self) -> int | None:
        """Return the number of a free staging block in the endpoint, or None."""
        if self.back:
            return None
        for number, user in enumerate(self.blocks):
            if user < self.freed:
                return self.queue * BLOCKS_A_QUEUE + number
        return None

    def use(self, block: int) -> None:
        """Assign a block to the next descriptor."""
        self.blocks[block % BLOCKS_A_QUEUE] = self.posted


class Credits:
    """Unanswered requests of an endpoint."""

    def __init__(self, each: int) -> None:
        """Create the counts; `each` is the limit for one destination. The total is limited by the reply queue."""
        self._each = each
        self._out: Counter[tuple[int, int]] = Counter()

    def expect(self, each: int) -> bool:
        """Set the limit for one destination. Return False if it is too large."""
        if each > DESCRIPTORS:
            return False
        self._each = each
        return True

    @property
    def out(self) -> int:
        """Total number of unanswered requests."""
        return self._out.total()

    def to(self, where: tuple[int, int]) -> int:
        """Return the number of unanswered requests to a destination."""
        return self._out[where]

    def free(self, where: tuple[int, int]) -> bool:
        """Return True if another request to a destination may be sent."""
        return self._out[where] < self._each and self.out < DESCRIPTORS

    def take(self, where: tuple[int, int]) -> None:
        """Count a request."""
        self._out[where] += 1

    def give(self, where: tuple[int, int]) -> None:
        """Uncount a request that is answered or returned."""
        if self._out[where]:
            self._out[where] -= 1
