"""Streams: send state of the messages that share sequence numbers (paper 000, 4.3.2).

A stream is ready when messages of it wait, its window has room and no retry delay holds it. Ready streams take turns.
Their number is in the word RESEND, which the channel search polls like one more channel. The module `orders` defines
which messages form a stream, and their order.
"""

from __future__ import annotations

from collections import deque

from firmware.grim.formats import COUNTER_MASK
from firmware.grim.nic.channels import Channel
from firmware.grim.nic.layout import Word
from firmware.grim.nic.ni import Ni
from firmware.grim.nic.orders import Order


class Streams:
    """Send state of all streams: one list for each attribute, indexed by stream number."""

    def __init__(self, ni: Ni, order: Order) -> None:
        total = ni.layout.streams
        self.window = ni.options.window
        self._order = order
        self.sequence = order.sequence
        """Next sequence number."""
        self.in_flight = [0] * total
        """Number of unanswered messages."""
        self.waiting = [0] * total
        """Number of scoreboard entries that have to be sent or retransmitted."""
        self.cursor = [0] * total
        """Position (`Order.place`) before which no message of the stream waits."""
        self.held = [False] * total
        """True during the retry delay."""
        self.closed = [False] * total
        """True for streams to a NI that is down: waiting messages fail, one at each turn."""
        self._queued = [False] * total
        self._ready: deque[int] = deque()
        self._nic = ni.nic

    def next_sequence(self, stream: int) -> int:
        """Take the next sequence number of a stream."""
        sequence = self.sequence[stream]
        self.sequence[stream] = sequence + 1 & COUNTER_MASK
        return sequence

    def open(self, stream: int) -> bool:
        """Return True if a new message of the stream may leave at once."""
        if self.closed[stream] or self.held[stream]:
            return False
        return self.in_flight[stream] < self.window and not self.waiting[stream]

    def wait(self, channel: Channel, slot: int, stream: int) -> None:
        """Add a message to the waiting messages of its stream."""
        if not self.waiting[stream]:
            self.cursor[stream] = self._order.place(channel, slot)
        self.waiting[stream] += 1

    def passed(self, channel: Channel, slot: int, stream: int) -> None:
        """Remove a message that leaves from the waiting messages of its stream."""
        self.waiting[stream] -= 1
        self.cursor[stream] = self._order.place(channel, slot) + 1 & self._order.place_mask

    def next_waiting(self, stream: int) -> tuple[Channel, int, int]:
        """Return channel and slot of the oldest waiting message of a stream, and the number of entries examined."""
        return self._order.next_waiting(stream, self.cursor[stream])

    def wake(self, stream: int) -> None:
        """Put a stream on the ready list if it is ready."""
        if not self._queued[stream] and self._may_resend(stream):
            self._queued[stream] = True
            self._ready.append(stream)
            self._nic.store(Word.RESEND, len(self._ready))

    def take_ready(self) -> int | None:
        """Return the stream whose turn it is, or None if it is no longer ready."""
        stream = self._ready.popleft()
        self._queued[stream] = False
        self._nic.store(Word.RESEND, len(self._ready))
        return stream if self._may_resend(stream) else None

    def _may_resend(self, stream: int) -> bool:
        if not self.waiting[stream] or self.held[stream]:
            return False
        return self.closed[stream] or self.in_flight[stream] < self.window
