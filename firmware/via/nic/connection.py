"""What belongs to one connection of a VI: its ends, its sequence numbers, the messages under way in both directions."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from firmware.via.formats import SEQUENCE, Header, Reliability, Status
from firmware.via.nic.incoming import Incoming, IncomingWrite, Scatter


@dataclass
class Unacknowledged:
    """A message of a reliable connection that its target has not acknowledged."""

    number: int
    """As its packets have it, and its acknowledgement."""
    descriptor: int
    """Physical address of its descriptor; 0: it has none any more."""
    home: int
    """Handle of the region in which that stands; 0: the kernel sees to it that it stays."""
    length: int
    operation: int
    """Bits of its status."""
    reading: Scatter | None = None
    """Of an RDMA read: where its data go."""
    over: bool = False
    """It is acknowledged, or its data are here."""


@dataclass
class Connection:
    """What belongs to one connection of a VI, and not to the next one. Its messages remember it, not its VI."""

    node: int = 0
    peer: int = 0
    number: int = 0
    """Both ends know it by that, and no other one between the two VIs that packets could still come from."""
    reliability: int = int(Reliability.UNRELIABLE)
    rights: int = 0
    """Of its peer: RDMA_WRITE, RDMA_READ."""
    sequence: int = 0
    """Of the next packet out."""
    expected: int = 0
    """Sequence number of the next packet in."""
    coming: int = 0
    """Number of the message whose packets come."""
    whole: bool = True
    """All of it has come."""
    unacknowledged: deque[Unacknowledged] = field(default_factory=deque)
    receiving: Incoming | None = None
    """The message that arrives."""
    writing: IncomingWrite | None = None
    """The RDMA write that arrives."""
    behind_write: bool = False
    """Pieces of RDMA writes were left to the kernel: what comes next waits until they are where they belong."""
    blamed: int | None = None
    """Number of the message that broke it; None: the one that is sent."""
    verdict: Status = Status.FLUSHED
    """Status of that message."""

    @property
    def reliable(self) -> bool:
        """Its messages are acknowledged."""
        return self.reliability != Reliability.UNRELIABLE

    def next_sequence(self) -> int:
        """The number of a packet that leaves."""
        number = self.sequence
        self.sequence = number + 1 & SEQUENCE
        return number

    def passed(self, header: Header) -> bool:
        """A packet that was there before, or was missing when a later one came: the network has doubled or delayed it.
        Half of the sequence numbers are before the next one.
        """
        return self.expected - 1 - header.sequence & SEQUENCE <= SEQUENCE // 2

    def came(self, header: Header) -> bool:
        """A packet has come; whether it is the one behind the last."""
        more = header.first or (header.number == self.coming and not self.whole)
        follows = more and header.sequence == self.expected
        self.expected = header.sequence + 1 & SEQUENCE
        self.coming, self.whole = header.number, header.last
        return follows

    def end_of(self, number: int) -> Status:
        """What becomes of a message that was being sent when it broke."""
        return self.verdict if self.blamed in (None, number) else Status.FLUSHED
