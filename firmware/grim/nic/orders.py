"""The two ways of sequencing (paper 000, 4.3.2): what a stream is, and in which order its messages stand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from firmware.grim.formats import COUNTER_MASK
from firmware.grim.nic.channels import SENT, UNSENT, WAITING, Channel, holder
from firmware.grim.nic.ni import Ni


class Order(Protocol):
    """One way of sequencing. Streams are named by numbers."""

    place_mask: int
    """Places count up to this, and then from 0."""
    spans_channels: bool
    """Messages of a stream may stand in several channels of the hosts."""
    sequence: list[int]
    """By stream: the next sequence number."""

    def number(self, source_channel: int, vnn: int, channel: int) -> int:
        """The stream's number."""

    def peer(self, stream: int) -> int:
        """The VNN of the stream's destination."""

    def place(self, channel: Channel, slot: int) -> int:
        """Where a message stands in its stream: what `cursor` counts in."""

    def take_back(self, channel: Channel, slot: int) -> tuple[int, int]:
        """Roll back: from a message on, every message of its stream that was sent waits again. Messages leave in order,
        so behind the first one that waits already there is no other. How many, and how many entries were looked at.
        """

    def next_waiting(self, stream: int, cursor: int) -> tuple[Channel, int, int]:
        """Channel and slot of the stream's oldest message that waits, which stands at the place `cursor` or behind it;
        and how many entries were looked at.
        """

    def oldest_sent(self, stream: int) -> tuple[Channel, int] | None:
        """Channel and slot of the stream's oldest message in flight."""

    def is_to(self, stream: int, channel: int) -> bool:
        """Whether the stream ends at a channel of its NI."""

    def entered(self, channel: Channel, slot: int) -> None:
        """A message is in the scoreboard."""


class AnyToAny:
    """A stream is (source channel, destination NI, destination channel): its messages stand in one channel."""

    place_mask = 0xFFFFFFFF
    spans_channels = False

    def __init__(self, ni: Ni, channels: Sequence[Channel]) -> None:
        """`channels`: those of the hosts, the NI's own, and those of the trees."""
        self.sequence = [0] * ni.layout.streams
        self._channels = channels
        self._nodes, self._count = ni.nodes, ni.layout.targets

    def number(self, source_channel: int, vnn: int, channel: int) -> int:
        """The stream's number."""
        return (source_channel * self._nodes + vnn) * self._count + channel

    def peer(self, stream: int) -> int:
        """The VNN of the stream's destination."""
        return stream // self._count % self._nodes

    def place(self, channel: Channel, slot: int) -> int:
        """Where a message stands in its stream."""
        return channel.number(slot)

    def take_back(self, channel: Channel, slot: int) -> tuple[int, int]:
        """See `Order`."""
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

    def next_waiting(self, stream: int, cursor: int) -> tuple[Channel, int, int]:
        """See `Order`."""
        channel = self._channels[stream // (self._count * self._nodes)]
        ahead = cursor - channel.head & 0xFFFFFFFF
        first = ahead if ahead < 1 << 31 else 0  # freed since: what waits is behind the front
        for i in range(first, channel.count):
            at = (channel.first + i) % channel.slots
            if channel.stream[at] == stream and channel.state[at] in UNSENT:
                return channel, at, i - first + 1
        raise LookupError(f"channel {channel.index}: no message of stream {stream} waits")

    def oldest_sent(self, stream: int) -> tuple[Channel, int] | None:
        """See `Order`."""
        channel = self._channels[stream // (self._count * self._nodes)]
        for i in range(channel.count):
            at = (channel.first + i) % channel.slots
            if channel.stream[at] == stream and channel.state[at] == SENT:
                return channel, at
        return None

    def is_to(self, stream: int, channel: int) -> bool:
        """See `Order`."""
        return stream % self._count == channel

    def entered(self, channel: Channel, slot: int) -> None:
        """See `Order`: an answer tells the channel."""


class PerNi:
    """A stream is a destination NI and a lane (`Layout.lane`): messages of all channels of the host, in the order in
    which the NI met them; the replies to remote reads; the copies for a multicast tree.
    """

    place_mask = COUNTER_MASK

    def __init__(self, ni: Ni, channels: Sequence[Channel]) -> None:
        """`channels`: those of the hosts, the NI's own, and those of the trees."""
        self.sequence = [0] * ni.layout.streams
        self.spans_channels = ni.options.channels > 1
        self._channels, self._nodes = channels, ni.nodes
        self._tokens = [bytearray(COUNTER_MASK + 1) for _ in range(ni.layout.streams)]
        """By stream and sequence number, the token of the message."""
        self._own, self._lane = ni.options.channels, ni.layout.lane

    def number(self, source_channel: int, vnn: int, channel: int) -> int:
        """The stream's number."""
        return vnn + self._nodes * self._lane(source_channel)

    def peer(self, stream: int) -> int:
        """The VNN of the stream's destination."""
        return stream % self._nodes

    def place(self, channel: Channel, slot: int) -> int:
        """Where a message stands in its stream."""
        return channel.sequence[slot]

    def _at(self, stream: int, sequence: int) -> tuple[Channel, int]:
        """Channel and slot of the message that has, or had last, this sequence number."""
        at = holder(self._channels, self._own, self._tokens[stream][sequence])
        assert at is not None
        return at

    def _holds(self, channel: Channel, slot: int, stream: int, sequence: int) -> bool:
        return channel.stream[slot] == stream and channel.sequence[slot] == sequence

    def take_back(self, channel: Channel, slot: int) -> tuple[int, int]:
        """See `Order`."""
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

    def next_waiting(self, stream: int, cursor: int) -> tuple[Channel, int, int]:
        """See `Order`."""
        for i in range(self.sequence[stream] - cursor & COUNTER_MASK or COUNTER_MASK + 1):
            sequence = cursor + i & COUNTER_MASK
            channel, slot = self._at(stream, sequence)
            if channel.state[slot] in UNSENT and self._holds(channel, slot, stream, sequence):
                return channel, slot, i + 1
        raise LookupError(f"no message to NI {stream} waits")

    def oldest_sent(self, stream: int) -> tuple[Channel, int] | None:
        """See `Order`: among the last 256."""
        for i in range(COUNTER_MASK, -1, -1):
            sequence = self.sequence[stream] - 1 - i & COUNTER_MASK
            channel, slot = self._at(stream, sequence)
            if channel.state[slot] == SENT and self._holds(channel, slot, stream, sequence):
                return channel, slot
        return None

    def is_to(self, stream: int, channel: int) -> bool:
        """See `Order`: to all of them."""
        return True

    def entered(self, channel: Channel, slot: int) -> None:
        """See `Order`: keep its token."""
        self._tokens[channel.stream[slot]][channel.sequence[slot]] = channel.first_token + slot


def order_of(ni: Ni, channels: Sequence[Channel]) -> Order:
    """The sequencing that the options ask for."""
    return (PerNi if ni.options.sequencing == "per-ni" else AnyToAny)(ni, channels)
