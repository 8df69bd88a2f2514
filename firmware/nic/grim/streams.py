"""Streams: the sending side's state of each (source channel, destination NI, destination channel), the any-to-any
sequencing.

A stream is ready when messages of it wait, its window has room and no retry delay holds it. Ready streams take turns;
their number stands in the word RESEND, which the search of the channels looks at as if it were one more channel.
"""

from __future__ import annotations

from collections import deque

from firmware.nic.grim.layout import Word
from firmware.nic.grim.ni import Ni
from pymodels.formats.grim import COUNTER_MASK


class Streams:
    """Columns by stream number: (source channel x nodes + destination NI) x channels + destination channel."""

    def __init__(self, ni: Ni) -> None:
        self.nodes = ni.nodes
        self.channels = ni.options.channels
        self.window = ni.options.window
        total = self.channels * self.nodes * self.channels
        self.sequence = [0] * total
        """Next sequence number."""
        self.in_flight = [0] * total
        """Messages sent and not answered."""
        self.waiting = [0] * total
        """Messages in the scoreboard that must be sent (again)."""
        self.cursor = [0] * total
        """Number of the message (in its channel) before which none of the stream waits."""
        self.held = [False] * total
        """Within the retry delay."""
        self._queued = [False] * total
        self._ready: deque[int] = deque()
        self._nic = ni.nic

    def number(self, source_channel: int, vnn: int, channel: int) -> int:
        """The stream's number."""
        return (source_channel * self.nodes + vnn) * self.channels + channel

    def peer(self, stream: int) -> int:
        """The VNN of the stream's destination."""
        return stream // self.channels % self.nodes

    def next_sequence(self, stream: int) -> int:
        """Take the next sequence number of a stream."""
        sequence = self.sequence[stream]
        self.sequence[stream] = sequence + 1 & COUNTER_MASK
        return sequence

    def open(self, stream: int) -> bool:
        """Whether a new message of the stream may leave at once."""
        return self.in_flight[stream] < self.window and not self.waiting[stream] and not self.held[stream]

    def wake(self, stream: int) -> None:
        """Put the stream among the ready ones if it is."""
        if not self._queued[stream] and self._may_resend(stream):
            self._queued[stream] = True
            self._ready.append(stream)
            self._nic.store(Word.RESEND, len(self._ready))

    def take_ready(self) -> int | None:
        """The stream whose turn it is; None when it is no longer ready."""
        stream = self._ready.popleft()
        self._queued[stream] = False
        self._nic.store(Word.RESEND, len(self._ready))
        return stream if self._may_resend(stream) else None

    def _may_resend(self, stream: int) -> bool:
        return self.waiting[stream] > 0 and not self.held[stream] and self.in_flight[stream] < self.window
