"""Streams: the sending side's state of what is sequenced together (paper 000, 4.3.2).

A stream is ready when messages of it wait, its window has room and no retry delay holds it. Ready streams take turns;
their number stands in the word RESEND, which the search of the channels looks at as if it were one more channel.
What a stream is, and in which order its messages stand, the two ways of sequencing say: `orders`.
"""

from __future__ import annotations

from collections import deque

from firmware.grim.formats import COUNTER_MASK
from firmware.grim.nic.channels import Channel
from firmware.grim.nic.layout import Word
from firmware.grim.nic.ni import Ni
from firmware.grim.nic.orders import Order


class Streams:
    """Columns by stream number; the messages themselves stand in the channels' scoreboards."""

    def __init__(self, ni: Ni, order: Order) -> None:
        total = ni.layout.streams
        self.window = ni.options.window
        self._order = order
        self.sequence = order.sequence
        """Next sequence number."""
        self.in_flight = [0] * total
        """Messages sent and not answered."""
        self.waiting = [0] * total
        """Messages in the scoreboards that must be sent (again)."""
        self.cursor = [0] * total
        """Place of the message (`place`) before which none of the stream waits."""
        self.held = [False] * total
        """Within the retry delay."""
        self.closed = [False] * total
        """To a NI that is down: what waits is refused to its sender, one message a turn."""
        self._queued = [False] * total
        self._ready: deque[int] = deque()
        self._nic = ni.nic

    def next_sequence(self, stream: int) -> int:
        """Take the next sequence number of a stream."""
        sequence = self.sequence[stream]
        self.sequence[stream] = sequence + 1 & COUNTER_MASK
        return sequence

    def open(self, stream: int) -> bool:
        """Whether a new message of the stream may leave at once."""
        if self.closed[stream] or self.held[stream]:
            return False
        return self.in_flight[stream] < self.window and not self.waiting[stream]

    def wait(self, channel: Channel, slot: int, stream: int) -> None:
        """One more message of a stream waits."""
        if not self.waiting[stream]:
            self.cursor[stream] = self._order.place(channel, slot)
        self.waiting[stream] += 1

    def passed(self, channel: Channel, slot: int, stream: int) -> None:
        """A message that waited leaves."""
        self.waiting[stream] -= 1
        self.cursor[stream] = self._order.place(channel, slot) + 1 & self._order.place_mask

    def next_waiting(self, stream: int) -> tuple[Channel, int, int]:
        """Channel and slot of the oldest message of a stream that waits, and how many entries were looked at."""
        return self._order.next_waiting(stream, self.cursor[stream])

    def wake(self, stream: int) -> None:
        """Put the stream on the ready list if it is ready."""
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
        if not self.waiting[stream] or self.held[stream]:
            return False
        return self.closed[stream] or self.in_flight[stream] < self.window
