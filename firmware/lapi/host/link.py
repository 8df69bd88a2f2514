"""Sequence numbers, window and acknowledgements of a pair of tasks. Sends nothing itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from firmware.lapi.host.header import MASK, Header, ahead

WINDOW = 32
"""Largest number of unacknowledged packets of a pair."""

MOST_PATIENCE = 64
"""Longest wait for an acknowledgement, in time-outs (ours)."""


@dataclass
class Kept:
    """Packet kept for retransmission."""

    buffer: int
    """HAL's buffer of the packet."""
    at: int
    """Time of the last transmission, ps."""


class Sending:
    """Send state towards the other task."""

    def __init__(self, begin: int = 0) -> None:
        """Create the state; `begin` is the first sequence number."""
        self.next = begin & MASK
        self.kept: dict[int, Kept] = {}
        """Unacknowledged packets, by sequence number."""
        self.asked: int | None = None
        """Last sequence number for which an acknowledgement was requested."""
        self.asked_at = 0
        """Time of that request, ps."""
        self.patience = 1
        """Wait for an acknowledgement in time-outs; doubles each time that none has arrived."""

    @property
    def last(self) -> int:
        """Sequence number of the last packet."""
        return self.next - 1 & MASK

    @property
    def room(self) -> bool:
        """True if the window has room."""
        return not self.kept or ahead(self.next, next(iter(self.kept))) < WINDOW

    @property
    def asks(self) -> bool:
        """True if the next packet should request an acknowledgement.

        That is when half of the window is outstanding and nothing of it is requested yet. So a stream continues while
        the acknowledgement is in transit, however many packets the other task acknowledges at a time.
        """
        return 2 * (len(self.kept) + 1) >= WINDOW and self.asked not in self.kept

    def sent(self, buffer: int, now: int) -> None:
        """Record the next packet as sent."""
        self.kept[self.next] = Kept(buffer, now)
        self.next = self.next + 1 & MASK

    @property
    def since(self) -> int | None:
        """Time since which the other task has been silent, ps; None if nothing is outstanding."""
        return max(next(iter(self.kept.values())).at, self.asked_at) if self.kept else None

    def deadline(self, timeout: int) -> int | None:
        """Return the end of the other task's time-out, ps; None if nothing is outstanding."""
        since = self.since
        return None if since is None else since + timeout * self.patience

    def lose_patience(self) -> None:
        """Double the wait, so that requests do not fill the receive buffers of a task that computes."""
        self.patience = min(2 * self.patience, MOST_PATIENCE)

    def acknowledged(self, expected: int, beyond: int) -> list[int]:
        """Process an acknowledgement and return the buffers that it releases."""
        self.patience = 1
        done = [one for one in self.kept if _covers(expected, beyond, one)]
        return [self.kept.pop(one).buffer for one in done]

    def late(self, now: int, timeout: int) -> Iterator[Kept]:
        """Return the packets sent at least a time-out ago."""
        return (one for one in self.kept.values() if now - one.at >= timeout)


class Receiving:
    """Receive state from the other task."""

    def __init__(self, begin: int = 0) -> None:
        """Create the state; `begin` is the first sequence number."""
        self.expected = begin & MASK
        """First sequence number that is missing."""
        self._beyond: set[int] = set()
        self._fresh = 0
        self._wanted: int | None = None

    def new(self, sequence: int) -> bool:
        """Return True if a packet is new and inside the window."""
        return 0 <= ahead(sequence, self.expected) < WINDOW and sequence not in self._beyond

    def taken(self, sequence: int) -> None:
        """Record a packet as processed."""
        self._fresh += 1
        self._beyond.add(sequence)
        while self.expected in self._beyond:
            self._beyond.remove(self.expected)
            self.expected = self.expected + 1 & MASK

    def note_ack_request(self, sequence: int) -> None:
        """Record a request for an acknowledgement of all packets up to a sequence number."""
        self._wanted = sequence

    def due(self, most: int) -> bool:
        """Return True if `most` packets are unacknowledged, or a requested acknowledgement is possible."""
        return self._fresh >= most or (self._wanted is not None and ahead(self.expected, self._wanted) > 0)

    def stamp(self, header: Header) -> Header:
        """Return the header with the current acknowledgement."""
        self._fresh = 0
        if self._wanted is not None and ahead(self.expected, self._wanted) > 0:
            self._wanted = None
        beyond = sum(1 << ahead(one, self.expected) for one in self._beyond)
        return header._replace(expected=self.expected, beyond=beyond)


def _covers(expected: int, beyond: int, sequence: int) -> bool:
    far = ahead(sequence, expected)
    return far < 0 or (far < WINDOW and bool(beyond >> far & 1))
