"""Endpoints on the NIC: contents of the driver's row, and positions of the queues."""

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
    """Send queue."""

    queue: Queue
    taken: int = 0
    """Number of descriptors taken, since the start."""
    freed: int = 0
    """Number of descriptors freed, in order."""
    returned: int = 0
    """Number of returned messages."""
    out: set[int] = field(default_factory=set)
    """Numbers of the descriptors that are taken and not finished."""
    held: bool = False
    """True if the next descriptor cannot be sent now."""


@dataclass
class Arriving:
    """Message with a place in a receive queue."""

    address: int
    """Address of its descriptor."""
    word: int
    """First word of the descriptor."""
    done: bool = False
    """True if the message is complete."""


@dataclass
class Receiving:
    """Receive queue."""

    queue: Queue
    placed: int = 0
    """Number of messages with a place, since the start."""
    reported: int = 0
    """Number of messages reported to the host."""
    arriving: deque[Arriving] = field(default_factory=deque)
    """Messages with a place that are not yet reported."""
    staged: int = 0
    """Number of messages with a staging block."""
    blocks: list[int | None] = field(default_factory=lambda: [None] * BLOCKS_A_QUEUE)
    """Index of the last descriptor that named each staging block of the queue."""


class Endpoint:
    """State of an endpoint on the NIC, kept wherever its frame is."""

    def __init__(self, number: int, staging: int) -> None:
        self.number, self.staging = number, staging
        self.frame = self.tag = self.weight = self.image = 0
        """SRAM address of the frame (0: absent), tag, weight, and address of the frame in host memory."""
        self.leaving = self.asleep = self.asked = False
        """State flags: eviction in progress, without sends and receives; interrupt at the next message; frame requested
        from the driver.
        """
        self.sends = (Sending(Queue.REQUEST_SEND), Sending(Queue.REPLY_SEND))
        self.receives = (Receiving(Queue.REQUEST_RECEIVE), Receiving(Queue.REPLY_RECEIVE))

    @property
    def resident(self) -> bool:
        """True if messages can be received and sent."""
        return bool(self.frame) and not self.leaving

    def takes(self, tag: int) -> bool:
        """Return True if a message with this tag is accepted."""
        return self.tag == ALWAYS or tag == self.tag != NEVER

    def next(self, send: Sending) -> int:
        """Return the address of the next descriptor of a send queue."""
        return descriptor(self.frame, send.queue, send.taken)


class Endpoints:
    """Endpoints of one NIC."""

    def __init__(self, nic: Nic, port: LedPackets) -> None:
        self._nic, self._port = nic, port
        self._by_number: dict[int, Endpoint] = {}
        self.ring: list[Endpoint] = []
        """Endpoints with frames in SRAM, in the order of their turns."""
        self._notices_sent = 0

    def find(self, number: int) -> Endpoint | None:
        """Return the endpoint of a number, or None."""
        return self._by_number.get(number)

    def read(self, number: int) -> tuple[Endpoint | None, int]:
        """Read a row again. Return the endpoint, which may be new, and the requested frame address, or 0 for no
        endpoint.
        """
        frame, high, low, staging, weight, image, asleep = self._nic.load_words(row(number), 1 + Row.ASLEEP // 4)
        if not frame:
            return self._by_number.pop(number, None), 0
        if number not in self._by_number:
            endpoint = self._by_number[number] = Endpoint(number, staging)
            if frame != ABSENT:  # the driver has cleared the frame
                endpoint.frame = frame
                self.ring.append(endpoint)
        endpoint = self._by_number[number]
        endpoint.tag, endpoint.weight, endpoint.image = high << 32 | low, weight, image
        endpoint.asleep = bool(asleep)
        return endpoint, frame

    # ---- notices to the driver

    async def request_frame(self, endpoint: Endpoint) -> None:
        """Request the endpoint's frame from the driver, once."""
        if not endpoint.asked:
            endpoint.asked = True
            await self._notice(endpoint, Notice.WANTED)

    async def wake(self, endpoint: Endpoint) -> None:
        """Notify the driver of a message for an endpoint whose owner sleeps."""
        if endpoint.asleep:
            endpoint.asleep = False
            await self._notice(endpoint, Notice.EVENT)

    async def _notice(self, endpoint: Endpoint, notice: Notice) -> None:
        await self._nic.work("am2_notice")
        at = NOTICES + 4 * (self._notices_sent % NOTICE_WORDS)
        self._notices_sent += 1
        self._nic.store(at, OWNED | notice << 8 | endpoint.number)
        await self._port.interrupt()

    # ---- send queues

    def give_back(self, endpoint: Endpoint, send: Sending, number: int, *, returned: bool = False) -> None:
        """Free the descriptor of a finished message, and report it to the host in order."""
        nic = self._nic
        send.returned += returned
        nic.store(descriptor(endpoint.frame, send.queue, number), 0)
        send.out.discard(number)
        send.freed = min(send.out, default=send.taken)
        nic.store(endpoint.frame + FREED[send.queue], (send.freed & 0xFFFF) << 16 | send.returned & 0xFFFF)

    # ---- receive queues

    def room(self, endpoint: Endpoint, receive: Receiving) -> int | None:
        """Return the address of the next descriptor of a receive queue, or None if the host has not freed it."""
        at = descriptor(endpoint.frame, receive.queue, receive.placed)
        taken = any(one.address == at for one in receive.arriving)
        return None if taken or self._nic.load(at) & OWNED else at

    def block(self, endpoint: Endpoint, receive: Receiving) -> int | None:
        """Return the next staging block of a receive queue, or None if the host has not freed its descriptor."""
        number = receive.staged % BLOCKS_A_QUEUE
        index = receive.blocks[number]
        if index is not None:
            named = descriptor(endpoint.frame, receive.queue, index)
            if self._nic.load(named) & OWNED or any(one.address == named for one in receive.arriving):
                return None
        return receive.queue * BLOCKS_A_QUEUE + number

    def report(self, endpoint: Endpoint, receive: Receiving) -> None:
        """Report complete messages to the host, in the order of their places."""
        nic = self._nic
        while receive.arriving and receive.arriving[0].done:
            one = receive.arriving.popleft()
            nic.store(one.address, one.word)
            receive.reported += 1
        requests, replies = (other.reported & 0xFFFF for other in endpoint.receives)
        nic.store(endpoint.frame + ARRIVED, requests << 16 | replies)


assert ENDPOINTS * ROW + row(0) <= NOTICES and NOTICES + 4 * NOTICE_WORDS <= FRAMES
