"""What a task knows of its packets to one other task, and of those from there. It moves nothing itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from firmware.lapi.host.header import MASK, Header, ahead

WINDOW = 32
"""Packets of a pair that are not acknowledged, at most."""

MOST_PATIENCE = 64
"""Time-outs (ours)."""


@dataclass
class Kept:
    """A packet that may have to be sent again."""

    buffer: int
    """HAL's, in which it stands."""
    at: int
    """When it was sent last, ps."""


class Sending:
    """Packets to the other task."""

    def __init__(self, begin: int = 0) -> None:
        """`begin`: the first sequence."""
        self.next = begin & MASK
        self.kept: dict[int, Kept] = {}
        """Those that are not acknowledged, by sequence."""
        self.asked: int | None = None
        """The sequence up to which an acknowledgement was asked for."""
        self.asked_at = 0
        """When it was, ps."""
        self.patience = 1
        """So many time-outs are waited for an answer: twice as many each time that none has come."""

    @property
    def last(self) -> int:
        """Sequence of the last packet."""
        return self.next - 1 & MASK

    @property
    def room(self) -> bool:
        """Whether the window is not full."""
        return not self.kept or ahead(self.next, next(iter(self.kept))) < WINDOW

    @property
    def asks(self) -> bool:
        """Whether the next packet asks for an acknowledgement: half of the window is out, and nothing of it was asked
        for. So a stream goes on while the answer is on its way, however many packets the other task acknowledges at
        a time.
        """
        return 2 * (len(self.kept) + 1) >= WINDOW and self.asked not in self.kept

    def sent(self, buffer: int, now: int) -> None:
        """The next packet is on its way."""
        self.kept[self.next] = Kept(buffer, now)
        self.next = self.next + 1 & MASK

    @property
    def since(self) -> int | None:
        """Since when a sign of the other task is missing, ps; None: nothing is missing."""
        return max(next(iter(self.kept.values())).at, self.asked_at) if self.kept else None

    def deadline(self, timeout: int) -> int | None:
        """When the other task is to be asked, ps; None: nothing is missing."""
        since = self.since
        return None if since is None else since + timeout * self.patience

    def lose_patience(self) -> None:
        """It has not answered: a task that computes is not asked so often that questions fill its receive buffers."""
        self.patience = min(2 * self.patience, MOST_PATIENCE)

    def acknowledged(self, expected: int, beyond: int) -> list[int]:
        """An acknowledgement is here: the buffers that are not needed any more."""
        self.patience = 1
        done = [one for one in self.kept if _covers(expected, beyond, one)]
        return [self.kept.pop(one).buffer for one in done]

    def late(self, now: int, timeout: int) -> Iterator[Kept]:
        """Packets that were sent so long ago."""
        return (one for one in self.kept.values() if now - one.at >= timeout)


class Receiving:
    """Packets from the other task."""

    def __init__(self, begin: int = 0) -> None:
        """`begin`: the first sequence."""
        self.expected = begin & MASK
        """All before are here."""
        self._beyond: set[int] = set()
        self._fresh = 0
        self._wanted: int | None = None

    def new(self, sequence: int) -> bool:
        """Whether a packet is none that was here before, nor one from beyond the window."""
        return 0 <= ahead(sequence, self.expected) < WINDOW and sequence not in self._beyond

    def taken(self, sequence: int) -> None:
        """What is in a packet is where it belongs."""
        self._fresh += 1
        self._beyond.add(sequence)
        while self.expected in self._beyond:
            self._beyond.remove(self.expected)
            self.expected = self.expected + 1 & MASK

    def asked(self, sequence: int) -> None:
        """An acknowledgement is wanted when all up to a sequence are here."""
        self._wanted = sequence

    def due(self, most: int) -> bool:
        """Whether to acknowledge now: `most` packets are not yet, or what is wanted is here."""
        return self._fresh >= most or (self._wanted is not None and ahead(self.expected, self._wanted) > 0)

    def stamp(self, header: Header) -> Header:
        """A header that acknowledges what is here."""
        self._fresh = 0
        if self._wanted is not None and ahead(self.expected, self._wanted) > 0:
            self._wanted = None
        beyond = sum(1 << ahead(one, self.expected) for one in self._beyond)
        return header._replace(expected=self.expected, beyond=beyond)


def _covers(expected: int, beyond: int, sequence: int) -> bool:
    far = ahead(sequence, expected)
    return far < 0 or (far < WINDOW and bool(beyond >> far & 1))
