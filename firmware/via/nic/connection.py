"""State of one connection of a VI: its ends, its sequence numbers, the messages in flight in both directions."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from firmware.via.formats import SEQUENCE, Header, Reliability, Status
from firmware.via.nic.incoming import Incoming, IncomingWrite, Scatter


@dataclass
class Unacknowledged:
    """Message of a reliable connection that its target has not acknowledged."""

    number: int
    """Number of the message in its packets and in its acknowledgement."""
    descriptor: int
    """Physical address of the message's descriptor, or 0 if it no longer has one."""
    home: int
    """Handle of the descriptor's region, or 0 if the kernel guarantees that it stays registered."""
    length: int
    operation: int
    """Status bits."""
    reading: Scatter | None = None
    """Destination of the data of an RDMA read, or None."""
    over: bool = False
    """True if the message is acknowledged, or the data of the read have arrived."""
    message: int = 0
    """Number of the message in the trace."""


@dataclass
class Connection:
    """State of one connection of a VI. Messages refer to their connection, which a later one does not replace."""

    node: int = 0
    peer: int = 0
    number: int = 0
    """Number that both ends know the connection by.

    It differs from those of earlier connections between the two VIs whose packets could still arrive.
    """
    reliability: int = int(Reliability.UNRELIABLE)
    rights: int = 0
    """Rights of the peer: RDMA_WRITE, RDMA_READ."""
    sequence: int = 0
    """Sequence number of the next outgoing packet."""
    expected: int = 0
    """Sequence number of the next incoming packet."""
    arriving_number: int = 0
    """Number of the message whose packets are arriving."""
    whole: bool = True
    """True if that message is complete."""
    unacknowledged: deque[Unacknowledged] = field(default_factory=deque)
    receiving: Incoming | None = None
    """Message that is arriving, or None."""
    writing: IncomingWrite | None = None
    """RDMA write that is arriving, or None."""
    awaits_writes: bool = False
    """True if the kernel still has packets of RDMA writes, which later messages must wait for."""
    failed_number: int | None = None
    """Number of the message that broke the connection, or None for the message being sent."""
    verdict: Status = Status.FLUSHED
    """Status of that message."""

    @property
    def reliable(self) -> bool:
        """True if messages are acknowledged."""
        return self.reliability != Reliability.UNRELIABLE

    def next_sequence(self) -> int:
        """Return the sequence number of an outgoing packet."""
        number = self.sequence
        self.sequence = number + 1 & SEQUENCE
        return number

    def is_late(self, header: Header) -> bool:
        """Return True for a packet before the expected one: the network has duplicated or delayed it.

        Half of the sequence numbers count as before the expected one.
        """
        return self.expected - 1 - header.sequence & SEQUENCE <= SEQUENCE // 2

    def record(self, header: Header) -> bool:
        """Record an incoming packet. Return True if it follows the last one without a gap."""
        more = header.first or (header.number == self.arriving_number and not self.whole)
        follows = more and header.sequence == self.expected
        self.expected = header.sequence + 1 & SEQUENCE
        self.arriving_number, self.whole = header.number, header.last
        return follows

    def status_of_unsent(self, number: int) -> Status:
        """Return the status of a message that was being sent when the connection broke."""
        return self.verdict if self.failed_number in (None, number) else Status.FLUSHED
