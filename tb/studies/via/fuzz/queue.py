"""Work queue of a VI and its reference model: posted descriptors, permitted statuses, and effects on memory."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from dataclasses import dataclass, field
from typing import Protocol

from firmware.via.formats import Reliability, Status
from firmware.via.host import Descriptor, Vi
from tb.studies.via.fuzz.owner import Area, Extent, Owner

ERRORS = Status.ERRORS
NOT_SENT = Status.FORMAT_ERROR | Status.PROTECTION_ERROR | Status.LENGTH_ERROR
"""Statuses of errors that the sender detects."""


@dataclass(eq=False)
class Post:
    """Descriptor owned by the NIC."""

    what: str
    descriptor: Descriptor
    area: Area
    parts: list[Extent]
    status: Status = Status.DONE
    """Expected error status; further statuses are permitted only by `Epoch.excuses`."""
    data: bytes = b""
    """Transferred data: a message for the peer, or the result of a read."""
    immediate: int | None = None
    consumes: bool = False
    """True if it consumes a receive of the peer."""
    target: tuple[Area, list[Extent]] | None = None
    """Target of an RDMA write."""
    fetches: bool = False
    """True for a permitted RDMA read."""
    forbidden: bool = False
    """True if the peer must deny it."""
    before: tuple[Post, ...] = ()
    """RDMA writes between the previous message and this one: their data must be there when the message has arrived."""
    done: bool = False
    arrived: bool = False
    ended: Status | None = None
    """Status at dequeuing."""

    @property
    def given_up(self) -> bool:
        """True if the sender has detected an error: before the first packet, or later due to deregistered memory."""
        return bool((self.descriptor.status if self.ended is None else self.ended) & NOT_SENT)


@dataclass
class Epoch:
    """Connection from its start to its end."""

    level: Reliability
    excuses: set[str] = field(default_factory=set)
    """Reasons for which descriptors may end with a status other than DONE."""
    streams: tuple[deque[Post], deque[Post]] = field(default_factory=lambda: (deque(), deque()))
    """Sent posts of each side that consume receives and have not arrived."""
    writes: tuple[list[Post], list[Post]] = field(default_factory=lambda: ([], []))
    """RDMA writes of each side since its last message."""

    def sends(self, side: int, post: Post) -> None:
        """Account for a post of a side."""
        if post.target is not None:
            self.writes[side].append(post)
        if post.consumes:
            post.before = tuple(self.writes[side])
            self.writes[side].clear()
            self.streams[side].append(post)

    @property
    def reliable(self) -> bool:
        """True if no message may be left out."""
        return self.level is not Reliability.UNRELIABLE


class Side(Protocol):
    """End of a connection as its queues see it."""

    epoch: Epoch
    owner: Owner
    number: int
    vi: Vi

    def wrong(self, text: str) -> None:
        """Record an error."""


class Queue(ABC):
    """Work queue of a side: posted descriptors in order."""

    receives: bool

    def __init__(self, side: Side) -> None:
        self.side, self.posted = side, deque[Post]()

    @property
    def key(self) -> tuple[int, bool]:
        """Number of the VI, and True for the receive queue."""
        return self.side.vi.number, self.receives

    def wrong(self, text: str) -> None:
        """Record an error."""
        self.side.wrong(text)

    @property
    def waiting(self) -> int:
        """Number of posted descriptors that are not finished, as far as the process can see."""
        return sum(not post.descriptor.status for post in self.posted)

    def ended(self, descriptor: Descriptor) -> None:
        """Account for the oldest descriptor, which was dequeued."""
        post, wrong = self.posted.popleft(), self.side.wrong
        status = post.ended = descriptor.status
        if descriptor is not post.descriptor:
            wrong(f"{post.what}: another descriptor was dequeued")
        if not status & Status.DONE:
            wrong(f"{post.what}: dequeued before it was done")
        if not self.side.epoch.excuses and status & ERRORS != post.status & ERRORS:
            wrong(f"{post.what} ended with {status!r}, but {post.status!r} is expected")
        self._judge(post, descriptor)
        self.side.owner.give_back(descriptor)

    @abstractmethod
    def _judge(self, post: Post, descriptor: Descriptor) -> None:
        """Check the effect of a finished descriptor on memory and peer."""


class Sends(Queue):
    """Send queue of a side."""

    receives = False

    def _judge(self, post: Post, descriptor: Descriptor) -> None:
        epoch, wrong = self.side.epoch, self.side.wrong
        post.done = good = not descriptor.status & ERRORS
        if good and post.forbidden and epoch.reliable:
            wrong(f"{post.what} is done, but it is forbidden")
        stream = epoch.streams[self.side.number]
        if post.given_up and post.status & NOT_SENT and post in stream:
            stream.remove(post)  # some packets of any other may have left
        if post.target is not None:
            self._wrote(post, *post.target)
        elif good and post.fetches:
            post.area.fix(post.parts, post.data)
            if post.area.read(post.parts) != post.data:
                wrong(f"{post.what} is done, but its data are missing")

    def _wrote(self, post: Post, area: Area, parts: list[Extent]) -> None:
        epoch = self.side.epoch
        certain = epoch.level is Reliability.RECEPTION
        there = area.read(parts) == post.data
        if post.done and (not epoch.excuses or certain):
            area.fix(parts, post.data)
            if certain and not there:
                self.side.wrong(f"{post.what} is done, but its data are missing")


class Receives(Queue):
    """Receive queue of a side."""

    receives = True

    def _judge(self, post: Post, descriptor: Descriptor) -> None:
        stream = self.side.epoch.streams[1 - self.side.number]
        if not descriptor.status & ERRORS:
            self._matches(post, descriptor)
        elif descriptor.status & ~post.status & Status.LENGTH_ERROR and stream:
            stream.popleft()

    def _matches(self, post: Post, descriptor: Descriptor) -> None:
        """Find the peer's message in a receive: the next, or a later one if messages may be lost or given up.

        The receive of a lost message serves the next one, so packets of the lost message may remain beyond the data.
        """
        epoch, stream = self.side.epoch, self.side.epoch.streams[1 - self.side.number]
        for place, sent in enumerate(stream):
            if self._is(post, descriptor, sent):
                sent.arrived = True
                self._find(sent)
                if sent.target is None:
                    post.area.fix(post.parts, sent.data, behind=not place)
                for _ in range(place + 1):
                    stream.popleft()
                return
            if (epoch.reliable or not epoch.excuses) and not sent.given_up:
                break
        told = f"{descriptor.length} bytes, immediate {descriptor.immediate}, {descriptor.status!r}"
        wanted = f"{stream[0].what}" if stream else "no data, because none were sent"
        self.side.wrong(f"{post.what} has {told}, but {wanted} is expected")

    def _find(self, sent: Post) -> None:
        """Check that the data of the writes before a message have arrived with it."""
        for write in () if self.side.epoch.excuses else sent.before:
            assert write.target is not None
            area, parts = write.target
            if area.read(parts) != write.data:
                self.side.wrong(f"{sent.what} has arrived, but the data of {write.what} are missing")

    def _is(self, post: Post, descriptor: Descriptor, sent: Post) -> bool:
        if descriptor.immediate != sent.immediate or descriptor.length != len(sent.data):
            return False
        if sent.target is not None:
            return descriptor.status & Status.REMOTE_WRITE == Status.REMOTE_WRITE
        return post.area.read(post.parts)[: len(sent.data)] == sent.data
