"""Reference model of a disk that an I/O card serves: which bytes each block may have.

Blocks have one writer each, whose requests arrive in order. A write that was answered has been executed. One that was
aborted has not, and one that the card may have lost was executed or not. A read sees a state between the last write
that ended before it began, and the last one that began before it ended.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from firmware.grim.formats.iocard import DiskOp, Status
from tb.studies.grim.fuzz.mail import FOREVER


@dataclass
class Request:
    """Request of a client; times in ps."""

    tag: int
    node: int
    operation: DiskOp
    block: int
    count: int
    begun: int
    data: bytes = b""
    """Data of a write, or those that a read has brought."""
    ended: int = FOREVER
    status: Status | None = None

    def __str__(self) -> str:
        what = f"{self.operation.name.lower()} of {self.count} bytes of block {self.block}"
        return f"request {self.tag} of node {self.node} ({what})"


@dataclass
class Times:
    """Time in which requests may be aborted or lost."""

    begun: int
    ended: int = FOREVER

    def doubts(self, request: Request) -> bool:
        """Return True if a request overlaps with this time."""
        return request.begun < self.ended and request.ended >= self.begun


@dataclass
class Disk:
    """Blocks, requests, resets and losses of power of one card."""

    blocks: list[bytes]
    """Contents at first."""
    requests: list[Request] = field(default_factory=list)
    resets: list[Times] = field(default_factory=list)
    outages: list[Times] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    def begin(self, now: int, node: int, operation: DiskOp, block: int, count: int, data: bytes = b"") -> Request:
        """Record a request that is sent."""
        request = Request(len(self.requests), node, operation, block, count, now, data)
        self.requests.append(request)
        return request

    def may_be_lost(self, request: Request) -> bool:
        """Return True if a loss of power may have stopped a request or its answer."""
        return any(outage.doubts(request) for outage in self.outages)

    def answer(self, now: int, node: int, tag: int, status: int, count: int) -> Request | None:
        """Record and check an answer, and return its request."""
        if tag >= len(self.requests) or self.requests[tag].node != node:
            self.wrong.append(f"node {node} received an answer to the unknown request {tag}")
            return None
        request = self.requests[tag]
        if request.status is not None:
            self.wrong.append(f"{request} was answered twice")
        request.status, request.ended = Status(status), now
        aborted = request.status == Status.ABORTED and any(reset.doubts(request) for reset in self.resets)
        if request.status != Status.DONE and not aborted:
            self.wrong.append(f"{request} was answered by {request.status.name}")
        if count != (request.count if request.status == Status.DONE else 0):
            self.wrong.append(f"{request} was answered by {count} bytes")
        return request

    def missing(self) -> Iterator[str]:
        """Yield a description of each request without an answer."""
        for request in self.requests:
            if request.status is None and not self.may_be_lost(request):
                yield f"{request} has no answer"

    def errors(self, found: list[bytes]) -> Iterator[str]:
        """Yield a description of each error, given the blocks of the file at the end."""
        yield from self.wrong
        for request in self.requests:
            if request.operation != DiskOp.READ or request.status != Status.DONE:
                continue
            may = {one[: request.count] for one in self._states(request.block, request.begun, request.ended)}
            if request.data not in may:
                yield f"{request} has brought bytes that the block never had: {request.data[:8].hex()}..."
        for block, content in enumerate(found):
            if content not in self._states(block, FOREVER, FOREVER):
                yield f"block {block} of the file has other bytes at the end"

    def _states(self, block: int, begun: int, ended: int) -> set[bytes]:
        """Return the contents that a block may have within an interval of time."""
        states, later = {self.blocks[block]}, set[bytes]()
        for write in self.requests:
            if write.operation != DiskOp.WRITE or write.block != block or write.status == Status.ABORTED:
                continue
            after = {write.data + state[write.count :] for state in states | later}
            if write.status == Status.DONE and write.ended <= begun:
                states, later = after, set()
            elif write.begun <= ended:
                later |= after
        return states | later
