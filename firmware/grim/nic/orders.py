"""Two ways of sequencing (paper 000, 4.3.2): which messages form a stream, and their order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from firmware.grim.formats import COUNTER_MASK
from firmware.grim.nic.channels import SENT, UNSENT, WAITING, Channel, holder
from firmware.grim.nic.ni import Ni


class Order(Protocol):
    """Sequencing policy. Streams are identified by numbers."""

    place_mask: int
    """Bit mask of positions within a stream, which wrap around."""
    spans_channels: bool
    """True if messages of one stream may be in several host channels."""
    sequence: list[int]
    """Next sequence number of each stream."""

    def number(self, source_channel: int, vnn: int, channel: int) -> int:
        """Return the stream of messages from a source channel to a channel of the node `vnn`."""

    def peer(self, stream: int) -> int:
        """Return the VNN of a stream's destination."""

    def place(self, channel: Channel, slot: int) -> int:
        """Return the position of a message in its stream, in the units of `Streams.cursor`."""

    def take_back(self, channel: Channel, slot: int) -> tuple[int, int]:
        """Roll back a sent message and all sent messages after it in its stream.

        Messages leave in order, so the roll-back stops at the first message that already waits.

        Returns:
            The number of messages rolled back and the number of scoreboard entries examined.
        """

    def next_waiting(self, stream: int, cursor: int) -> tuple[Channel, int, int]:
        """Find the oldest waiting message of a stream, at position `cursor` or after it.

        Returns:
            Channel and slot of the message, and the number of scoreboard entries examined.

        Raises:
            LookupError: No message of the stream waits.
        """

    def oldest_sent(self, stream: int) -> tuple[Channel, int] | None:
        """Return channel and slot of a stream's oldest message in flight, or None."""

    def is_to(self, stream: int, channel: int) -> bool:
        """Return True if messages to a channel of the destination NI belong to a stream."""

    def entered(self, channel: Channel, slot: int) -> None:
        """Record a message that has entered the scoreboard."""


class AnyToAny:
    """Any-to-any sequencing: one stream for each (source channel, destination NI, destination channel)."""

    place_mask = 0xFFFFFFFF
    spans_channels = False

    def __init__(self, ni: Ni, channels: Sequence[Channel]) -> None:
        """Create the policy; `channels` are those of the hosts, the NI's own, and those of the trees."""
        self.sequence = [0] * ni.layout.streams
        self._channels = channels
        self._nodes, self._count = ni.nodes, ni.layout.targets

    def number(self, source_channel: int, vnn: int, channel: int) -> int:
        """Return the stream of a channel pair; see `Order`."""
        return (source_channel * self._nodes + vnn) * self._count + channel

    def peer(self, stream: int) -> int:
        """Return the VNN of a stream's destination."""
        return stream // self._count % self._nodes

    def place(self, channel: Channel, slot: int) -> int:
        """Return the running number of a message in its channel."""
        return channel.number(slot)

    def take_back(self, channel: Channel, slot: int) -> tuple[int, int]:
        """Roll back a message and its successors; see `Order`."""
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
        """Find the oldest waiting message; see `Order`."""
        channel = self._channels[stream // (self._count * self._nodes)]
        ahead = cursor - channel.head & 0xFFFFFFFF
        first = ahead if ahead < 1 << 31 else 0  # the cursor's message was freed: search from the front
        for i in range(first, channel.count):
            at = (channel.first + i) % channel.slots
            if channel.stream[at] == stream and channel.state[at] in UNSENT:
                return channel, at, i - first + 1
        raise LookupError(f"channel {channel.index}: no waiting message of stream {stream}")

    def oldest_sent(self, stream: int) -> tuple[Channel, int] | None:
        """Return the oldest message in flight; see `Order`."""
        channel = self._channels[stream // (self._count * self._nodes)]
        for i in range(channel.count):
            at = (channel.first + i) % channel.slots
            if channel.stream[at] == stream and channel.state[at] == SENT:
                return channel, at
        return None

    def is_to(self, stream: int, channel: int) -> bool:
        """Return True if a stream ends at a channel of the destination NI."""
        return stream % self._count == channel

    def entered(self, channel: Channel, slot: int) -> None:
        """Do nothing: an answer names the channel of its message."""


class PerNi:
    """Per-NI sequencing: one stream for each destination NI and lane (`Layout.lane`).

    A stream has one kind of message: messages of all host channels, replies to remote reads, or copies for one
    multicast tree. Messages of the host channels are in the order in which the NI processed them.
    """

    place_mask = COUNTER_MASK

    def __init__(self, ni: Ni, channels: Sequence[Channel]) -> None:
        """Create the policy; `channels` are those of the hosts, the NI's own, and those of the trees."""
        self.sequence = [0] * ni.layout.streams
        self.spans_channels = ni.options.channels > 1
        self._channels, self._nodes = channels, ni.nodes
        self._tokens = [bytearray(COUNTER_MASK + 1) for _ in range(ni.layout.streams)]
        """Token of the message, by stream and sequence number."""
        self._own, self._lane = ni.options.channels, ni.layout.lane

    def number(self, source_channel: int, vnn: int, channel: int) -> int:
        """Return the stream of a destination NI and the lane of the source channel; see `Order`."""
        return vnn + self._nodes * self._lane(source_channel)

    def peer(self, stream: int) -> int:
        """Return the VNN of a stream's destination."""
        return stream % self._nodes

    def place(self, channel: Channel, slot: int) -> int:
        """Return the sequence number of a message."""
        return channel.sequence[slot]

    def _at(self, stream: int, sequence: int) -> tuple[Channel, int]:
        """Return channel and slot of the message that has, or last had, a sequence number."""
        at = holder(self._channels, self._own, self._tokens[stream][sequence])
        assert at is not None
        return at

    def _holds(self, channel: Channel, slot: int, stream: int, sequence: int) -> bool:
        return channel.stream[slot] == stream and channel.sequence[slot] == sequence

    def take_back(self, channel: Channel, slot: int) -> tuple[int, int]:
        """Roll back a message and its successors; see `Order`."""
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
        """Find the oldest waiting message; see `Order`."""
        for i in range(self.sequence[stream] - cursor & COUNTER_MASK or COUNTER_MASK + 1):
            sequence = cursor + i & COUNTER_MASK
            channel, slot = self._at(stream, sequence)
            if channel.state[slot] in UNSENT and self._holds(channel, slot, stream, sequence):
                return channel, slot, i + 1
        raise LookupError(f"no waiting message of stream {stream}")

    def oldest_sent(self, stream: int) -> tuple[Channel, int] | None:
        """Return the oldest message in flight among the last 256; see `Order`."""
        for i in range(COUNTER_MASK, -1, -1):
            sequence = self.sequence[stream] - 1 - i & COUNTER_MASK
            channel, slot = self._at(stream, sequence)
            if channel.state[slot] == SENT and self._holds(channel, slot, stream, sequence):
                return channel, slot
        return None

    def is_to(self, stream: int, channel: int) -> bool:
        """Return True: a stream has the messages to all channels of the destination NI."""
        return True

    def entered(self, channel: Channel, slot: int) -> None:
        """Record the token of a message, to find it by its sequence number."""
        self._tokens[channel.stream[slot]][channel.sequence[slot]] = channel.first_token + slot


def create_order(ni: Ni, channels: Sequence[Channel]) -> Order:
    """Create the sequencing policy that the options select."""
    return (PerNi if ni.options.sequencing == "per-ni" else AnyToAny)(ni, channels)
