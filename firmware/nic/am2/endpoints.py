"""Endpoints as the NIC sees them: what the driver's row said when it was read, and how far each queue is."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from firmware.nic.am2.layout import (
    ARRIVED,
    BLOCKS_A_QUEUE,
    ENDPOINTS,
    FREED,
    ROW,
    Row,
    descriptor,
    row,
)
from firmware.nic.am2.words import ALWAYS, NEVER, OWNED, Queue
from firmware.verbs import Nic


@dataclass
class Sending:
    """A send queue."""

    queue: Queue
    taken: int = 0
    """Descriptors taken, counted from the start."""
    freed: int = 0
    """Given back, in order."""
    returned: int = 0
    """Of them those that came back."""
    out: set[int] = field(default_factory=set)
    """Numbers of those that are taken, and not done with."""
    held: bool = False
    """Its next descriptor cannot go now."""


@dataclass
class Arriving:
    """A message that has its place in a receive queue."""

    address: int
    """Of its descriptor."""
    word: int
    """The descriptor's first word."""
    done: bool = False
    """All of it is there."""


@dataclass
class Receiving:
    """A receive queue."""

    queue: Queue
    placed: int = 0
    """Messages that were given a place, counted from the start."""
    told: int = 0
    """Those of them that are reported to the host."""
    arriving: deque[Arriving] = field(default_factory=deque)
    """Those between."""
    staged: int = 0
    """Messages that were given a staging block."""
    blocks: list[int] = field(default_factory=lambda: [0] * BLOCKS_A_QUEUE)
    """By staging block of the queue: the descriptor that has named it last."""


class Endpoint:
    """An endpoint whose frame is in the NIC's memory."""

    def __init__(self, number: int, frame: int, tag: int, staging: int, weight: int) -> None:
        self.number, self.frame = number, frame
        self.tag, self.staging, self.weight = tag, staging, weight
        self.sends = (Sending(Queue.REQUEST_SEND), Sending(Queue.REPLY_SEND))
        self.receives = (Receiving(Queue.REQUEST_RECEIVE), Receiving(Queue.REPLY_RECEIVE))

    def takes(self, tag: int) -> bool:
        """Whether a message with this tag may come to it."""
        return self.tag == ALWAYS or tag == self.tag != NEVER

    def next(self, send: Sending) -> int:
        """Address of the next descriptor of a send queue."""
        return descriptor(self.frame, send.queue, send.taken)


class Endpoints:
    """All of a NIC."""

    def __init__(self, nic: Nic) -> None:
        self._nic = nic
        self._by_number: dict[int, Endpoint] = {}
        self.ring: list[Endpoint] = []
        """In the order in which they came: whose turn it is goes round."""

    def find(self, number: int) -> Endpoint | None:
        """The endpoint of a number."""
        return self._by_number.get(number)

    def read(self, number: int) -> Endpoint | None:
        """Look at a row again. An endpoint that is there no more is the result."""
        frame, high, low, staging, weight = self._nic.load_words(row(number), 1 + Row.WEIGHT // 4)
        there = self._by_number.get(number)
        if not frame:
            if there:
                del self._by_number[number]
                self.ring.remove(there)
            return there
        if there:
            there.tag, there.weight = high << 32 | low, weight
        else:
            endpoint = self._by_number[number] = Endpoint(number, frame, high << 32 | low, staging, weight)
            self.ring.append(endpoint)
        return None

    # ---- send queues

    def give_back(self, endpoint: Endpoint, send: Sending, number: int, *, returned: bool = False) -> None:
        """A message is done with: its descriptor is the host's again, and reported to it in order."""
        nic = self._nic
        send.returned += returned
        nic.store(descriptor(endpoint.frame, send.queue, number), 0)
        send.out.discard(number)
        send.freed = min(send.out, default=send.taken)
        nic.store(endpoint.frame + FREED[send.queue], (send.freed & 0xFFFF) << 16 | send.returned & 0xFFFF)

    # ---- receive queues

    def room(self, endpoint: Endpoint, receive: Receiving) -> int | None:
        """Address of the next descriptor of a receive queue, if the host has emptied it."""
        at = descriptor(endpoint.frame, receive.queue, receive.placed)
        taken = any(one.address == at for one in receive.arriving)
        return None if taken or self._nic.load(at) & OWNED else at

    def block(self, endpoint: Endpoint, receive: Receiving) -> int | None:
        """The next staging block of a receive queue, if the host has emptied the descriptor that named it."""
        number = receive.staged % BLOCKS_A_QUEUE
        named = receive.blocks[number]
        if named and (self._nic.load(named) & OWNED or any(one.address == named for one in receive.arriving)):
            return None
        return receive.queue * BLOCKS_A_QUEUE + number

    def tell(self, endpoint: Endpoint, receive: Receiving) -> None:
        """Tell the host of what is there, in the order of the places."""
        nic = self._nic
        while receive.arriving and receive.arriving[0].done:
            one = receive.arriving.popleft()
            nic.store(one.address, one.word)
            receive.told += 1
        requests, replies = (other.told & 0xFFFF for other in endpoint.receives)
        nic.store(endpoint.frame + ARRIVED, requests << 16 | replies)


assert ENDPOINTS * ROW + Row.FRAME + row(0) <= 0x1000
