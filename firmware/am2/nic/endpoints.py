"""Endpoints as the NIC sees them: what the driver's row said when it was read, and how far each queue is."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from firmware.am2.nic.layout import (
    ABSENT,
    ARRIVED,
    BLOCKS_A_QUEUE,
    ENDPOINTS,
    FRAMES,
    FREED,
    NOTICE_WORDS,
    NOTICES,
    ROW,
    Notice,
    Row,
    descriptor,
    row,
)
from firmware.am2.nic.words import ALWAYS, NEVER, OWNED, Queue
from firmware.common.nic import LedPackets
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
    blocks: list[int | None] = field(default_factory=lambda: [None] * BLOCKS_A_QUEUE)
    """By staging block of the queue: the index of the descriptor that has named it last."""


class Endpoint:
    """An endpoint: what the NIC knows of it wherever its frame is."""

    def __init__(self, number: int, staging: int) -> None:
        self.number, self.staging = number, staging
        self.frame = self.tag = self.weight = self.image = 0
        """Where its frame is in the NIC's memory; 0: it is absent. Its tag, its weight, its frame in host memory."""
        self.leaving = self.asleep = self.asked = False
        """It sends and takes nothing more, since its frame is to leave; the next message interrupts; the driver was
        asked to bring it."""
        self.sends = (Sending(Queue.REQUEST_SEND), Sending(Queue.REPLY_SEND))
        self.receives = (Receiving(Queue.REQUEST_RECEIVE), Receiving(Queue.REPLY_RECEIVE))

    @property
    def there(self) -> bool:
        """Messages can go into it and out of it."""
        return bool(self.frame) and not self.leaving

    def takes(self, tag: int) -> bool:
        """Whether a message with this tag may come to it."""
        return self.tag == ALWAYS or tag == self.tag != NEVER

    def next(self, send: Sending) -> int:
        """Address of the next descriptor of a send queue."""
        return descriptor(self.frame, send.queue, send.taken)


class Endpoints:
    """All of a NIC."""

    def __init__(self, nic: Nic, port: LedPackets) -> None:
        self._nic, self._port = nic, port
        self._by_number: dict[int, Endpoint] = {}
        self.ring: list[Endpoint] = []
        """Those whose frames are there, in the order in which they came: whose turn it is goes round."""
        self._told = 0

    def find(self, number: int) -> Endpoint | None:
        """The endpoint of a number."""
        return self._by_number.get(number)

    def read(self, number: int) -> tuple[Endpoint | None, int]:
        """Look at a row again: the endpoint, which may be new, and where the driver wants its frame; 0: nowhere."""
        frame, high, low, staging, weight, image, asleep = self._nic.load_words(row(number), 1 + Row.ASLEEP // 4)
        if not frame:
            return self._by_number.pop(number, None), 0
        if number not in self._by_number:
            endpoint = self._by_number[number] = Endpoint(number, staging)
            if frame != ABSENT:  # the driver has emptied its frame
                endpoint.frame = frame
                self.ring.append(endpoint)
        endpoint = self._by_number[number]
        endpoint.tag, endpoint.weight, endpoint.image = high << 32 | low, weight, image
        endpoint.asleep = bool(asleep)
        return endpoint, frame

    # ---- notices to the driver

    async def ask(self, endpoint: Endpoint) -> None:
        """Ask for its frame, once."""
        if not endpoint.asked:
            endpoint.asked = True
            await self._notice(endpoint, Notice.WANTED)

    async def wake(self, endpoint: Endpoint) -> None:
        """A message has come: if its owner is asleep, the driver wakes it."""
        if endpoint.asleep:
            endpoint.asleep = False
            await self._notice(endpoint, Notice.EVENT)

    async def _notice(self, endpoint: Endpoint, notice: Notice) -> None:
        await self._nic.work("am2_notice")
        at = NOTICES + 4 * (self._told % NOTICE_WORDS)
        self._told += 1
        self._nic.store(at, OWNED | notice << 8 | endpoint.number)
        await self._port.interrupt()

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
        index = receive.blocks[number]
        if index is not None:
            named = descriptor(endpoint.frame, receive.queue, index)
            if self._nic.load(named) & OWNED or any(one.address == named for one in receive.arriving):
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


assert ENDPOINTS * ROW + row(0) <= NOTICES and NOTICES + 4 * NOTICE_WORDS <= FRAMES
