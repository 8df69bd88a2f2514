"""What an endpoint has under way: credits of destinations, descriptors, staging blocks of its send queues."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from firmware.am2.nic.layout import BLOCKS_A_QUEUE, DESCRIPTORS
from firmware.am2.nic.words import Queue

NUMBERS = 1 << 16


@dataclass
class SendQueue:
    """The host's side of a send queue."""

    queue: Queue
    posted: int = 0
    """Descriptors given to the NIC, counted from the start."""
    freed: int = 0
    """Of them those that the NIC gave back, as far as the host has looked."""
    word: int = 0
    """What the NIC said of the queue when the host looked last."""
    taken_back: int = 0
    """Messages that came back and need their staging blocks no more."""
    blocks: list[int] = field(default_factory=lambda: [-1] * BLOCKS_A_QUEUE)
    """By staging block of the queue: the descriptor that named it last."""

    @property
    def full(self) -> bool:
        """No descriptor is known to be free."""
        return self.posted - self.freed >= DESCRIPTORS

    def told(self, word: int) -> None:
        """What the NIC says: descriptors given back, and messages that came back."""
        self.word = word
        self.freed += ((word >> 16) - self.freed) % NUMBERS

    @property
    def back(self) -> bool:
        """Messages came back that still stand in their staging blocks, as far as the host has looked."""
        return (self.word - self.taken_back) % NUMBERS != 0

    def block(self) -> int | None:
        """A staging block that is free, by its number in the endpoint."""
        if self.back:
            return None
        for number, user in enumerate(self.blocks):
            if user < self.freed:
                return self.queue * BLOCKS_A_QUEUE + number
        return None

    def use(self, block: int) -> None:
        """The next descriptor names a block."""
        self.blocks[block % BLOCKS_A_QUEUE] = self.posted


class Credits:
    """Requests of an endpoint that are not answered."""

    def __init__(self, each: int) -> None:
        """`each`: to one destination. In all there are no more than the queue of replies has places."""
        self._each = each
        self._out: Counter[tuple[int, int]] = Counter()

    def expect(self, each: int) -> bool:
        """So many to one destination from now on; False: this cannot be."""
        if each > DESCRIPTORS:
            return False
        self._each = each
        return True

    @property
    def out(self) -> int:
        """In all."""
        return self._out.total()

    def to(self, where: tuple[int, int]) -> int:
        """To a destination."""
        return self._out[where]

    def free(self, where: tuple[int, int]) -> bool:
        """Whether one more may leave."""
        return self._out[where] < self._each and self.out < DESCRIPTORS

    def take(self, where: tuple[int, int]) -> None:
        """One leaves."""
        self._out[where] += 1

    def give(self, where: tuple[int, int]) -> None:
        """One is answered, or came back."""
        if self._out[where]:
            self._out[where] -= 1
