"""Streams: the sending side's state of what is sequenced together (paper 000, 4.3.2).

A stream is ready when messages of it wait, its window has room and no retry delay holds it. Ready streams take turns;
their number stands in the word RESEND, which the search of the channels looks at as if it were one more channel.
What a stream is, and in which order its messages stand, the two ways of sequencing say: `AnyToAny`, `PerNi`.
"""

from __future__ import annotations

from collections import deque

from firmware.nic.grim.channels import SENT, UNSENT, WAITING, Channel, holder
from firmware.nic.grim.layout import Word
from firmware.nic.grim.ni import Ni
from pymodels.formats.grim import COUNTER_MASK


class Streams:
    """Columns by stream number; the messages themselves stand in the channels' scoreboards."""

    place_mask = 0xFFFFFFFF
    tokens: list[bytearray] | None = None
    """By stream and sequence number, the token of the message: kept where a stream has messages of several channels."""

    def __init__(self, ni: Ni, channels: list[Channel]) -> None:
        total = ni.layout.streams
        self.nodes = ni.nodes
        self.window = ni.options.window
        self.channels = channels
        """Those of the hosts, and last the NI's own."""
        self.sequence = [0] * total
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

    def number(self, source_channel: int, vnn: int, channel: int) -> int:
        """The stream's number."""
        raise NotImplementedError

    def peer(self, stream: int) -> int:
        """The VNN of the stream's destination."""
        raise NotImplementedError

    def place(self, channel: Channel, slot: int) -> int:
        """Where a message stands in its stream: what `cursor` counts in."""
        raise NotImplementedError

    def take_back(self, channel: Channel, slot: int) -> tuple[int, int]:
        """Roll back: from a message on, every message of its stream that was sent waits again. Messages leave in order,
        so behind the first one that waits already there is no other. How many, and how many entries were looked at.
        """
        raise NotImplementedError

    def next_waiting(self, stream: int) -> tuple[Channel, int, int]:
        """Channel and slot of the stream's oldest message that waits, and how many entries were looked at."""
        raise NotImplementedError

    def oldest_sent(self, stream: int) -> tuple[Channel, int] | None:
        """Channel and slot of the stream's oldest message in flight."""
        raise NotImplementedError

    def is_to(self, stream: int, channel: int) -> bool:
        """Whether the stream ends at a channel of its NI."""
        raise NotImplementedError

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
            self.cursor[stream] = self.place(channel, slot)
        self.waiting[stream] += 1

    def passed(self, channel: Channel, slot: int, stream: int) -> None:
        """A message that waited leaves."""
        self.waiting[stream] -= 1
        self.cursor[stream] = self.place(channel, slot) + 1 & self.place_mask

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
        if not self.waiting[stream] or self.held[stream]:
            return False
        return self.closed[stream] or self.in_flight[stream] < self.window


class AnyToAny(Streams):
    """A stream is (source channel, destination NI, destination channel): its messages stand in one channel."""

    def __init__(self, ni: Ni, channels: list[Channel]) -> None:
        self._count = ni.layout.targets
        super().__init__(ni, channels)

    def number(self, source_channel: int, vnn: int, channel: int) -> int:
        """The stream's number."""
        return (source_channel * self.nodes + vnn) * self._count + channel

    def peer(self, stream: int) -> int:
        """The VNN of the stream's destination."""
        return stream // self._count % self.nodes

    def place(self, channel: Channel, slot: int) -> int:
        """Where a message stands in its stream."""
        return channel.number(slot)

    def take_back(self, channel: Channel, slot: int) -> tuple[int, int]:
        """See `Streams`."""
        stream, state, slots = channel.stream[slot], channel.state, channel.slots
        taken, before = 0, (slot - channel.first) % slots
        for i in range(before, channel.count):
            at = (channel.first + i) % slots
            if channel.stream[at] != stream:
                continue
            if state[at] in UNSENT:
                return taken, i - before + 1
            if state[at] == SENT:
                state[at] = WAITING
                channel.again[at] = True
                taken += 1
        return taken, channel.count - before

    def next_waiting(self, stream: int) -> tuple[Channel, int, int]:
        """See `Streams`."""
        channel = self.channels[stream // (self._count * self.nodes)]
        ahead = self.cursor[stream] - channel.head & 0xFFFFFFFF
        first = ahead if ahead < 1 << 31 else 0  # freed since: what waits is behind the front
        for i in range(first, channel.count):
            at = (channel.first + i) % channel.slots
            if channel.stream[at] == stream and channel.state[at] in UNSENT:
                return channel, at, i - first + 1
        raise LookupError(f"channel {channel.index}: no message of stream {stream} waits")

    def oldest_sent(self, stream: int) -> tuple[Channel, int] | None:
        """See `Streams`."""
        channel = self.channels[stream // (self._count * self.nodes)]
        for i in range(channel.count):
            at = (channel.first + i) % channel.slots
            if channel.stream[at] == stream and channel.state[at] == SENT:
                return channel, at
        return None

    def is_to(self, stream: int, channel: int) -> bool:
        """See `Streams`."""
        return stream % self._count == channel


class PerNi(Streams):
    """A stream is a destination NI and a lane (`Layout.lane`): messages of all channels of the host, in the order in
    which the NI met them; the replies to remote reads; the copies for a multicast tree.
    """

    place_mask = COUNTER_MASK

    def __init__(self, ni: Ni, channels: list[Channel]) -> None:
        super().__init__(ni, channels)
        self.tokens = [bytearray(COUNTER_MASK + 1) for _ in range(ni.layout.streams)]
        self._own, self._lane = ni.options.channels, ni.layout.lane

    def number(self, source_channel: int, vnn: int, channel: int) -> int:
        """The stream's number."""
        return vnn + self.nodes * self._lane(source_channel)

    def peer(self, stream: int) -> int:
        """The VNN of the stream's destination."""
        return stream % self.nodes

    def place(self, channel: Channel, slot: int) -> int:
        """Where a message stands in its stream."""
        return channel.sequence[slot]

    def _at(self, stream: int, sequence: int) -> tuple[Channel, int]:
        """Channel and slot of the message that has, or had last, this sequence number."""
        assert self.tokens is not None
        at = holder(self.channels, self._own, self.tokens[stream][sequence])
        assert at is not None
        return at

    def _holds(self, channel: Channel, slot: int, stream: int, sequence: int) -> bool:
        return channel.stream[slot] == stream and channel.sequence[slot] == sequence

    def take_back(self, channel: Channel, slot: int) -> tuple[int, int]:
        """See `Streams`."""
        stream, first = channel.stream[slot], channel.sequence[slot]
        taken, steps = 0, self.sequence[stream] - first & COUNTER_MASK or COUNTER_MASK + 1
        for i in range(steps):
            sequence = first + i & COUNTER_MASK
            channel, slot = self._at(stream, sequence)
            if not self._holds(channel, slot, stream, sequence):
                continue
            if channel.state[slot] in UNSENT:
                return taken, i + 1
            if channel.state[slot] == SENT:
                channel.state[slot] = WAITING
                channel.again[slot] = True
                taken += 1
        return taken, steps

    def next_waiting(self, stream: int) -> tuple[Channel, int, int]:
        """See `Streams`."""
        first = self.cursor[stream]
        for i in range(self.sequence[stream] - first & COUNTER_MASK or COUNTER_MASK + 1):
            sequence = first + i & COUNTER_MASK
            channel, slot = self._at(stream, sequence)
            if channel.state[slot] in UNSENT and self._holds(channel, slot, stream, sequence):
                return channel, slot, i + 1
        raise LookupError(f"no message to NI {stream} waits")

    def oldest_sent(self, stream: int) -> tuple[Channel, int] | None:
        """See `Streams`: among the last 256."""
        for i in range(COUNTER_MASK, -1, -1):
            sequence = self.sequence[stream] - 1 - i & COUNTER_MASK
            channel, slot = self._at(stream, sequence)
            if channel.state[slot] == SENT and self._holds(channel, slot, stream, sequence):
                return channel, slot
        return None

    def is_to(self, stream: int, channel: int) -> bool:
        """See `Streams`: to all of them."""
        return True


def streams_of(ni: Ni, channels: list[Channel]) -> Streams:
    """The streams of the sequencing that the options ask for."""
    return (PerNi if ni.options.sequencing == "per-ni" else AnyToAny)(ni, channels)
