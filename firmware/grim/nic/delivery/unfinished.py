"""Incomplete segmented messages: a message that begins in one connection must not end in another (`connections`)."""

from __future__ import annotations

from firmware.grim.formats import MORE, SEGMENTS, MessageType, Words
from firmware.grim.nic.channels import Channel
from firmware.grim.nic.layout import NONE, ROUTE_BYTES
from firmware.grim.nic.ni import Ni
from firmware.grim.nic.orders import Order


class Unfinished:
    """Segmented messages of one NI whose last segment has not entered the scoreboard."""

    def __init__(self, ni: Ni, order: Order) -> None:
        self._nic, self._order = ni.nic, order
        self._own = ni.options.channels
        self._messages: set[tuple[int, int, int]] = set()
        """Stream, VNN of the first sender (NONE unless a copy for a tree), and source channel of each message."""

    def entered(self, channel: Channel, slot: int) -> None:
        """Update the set for a message that has entered the scoreboard."""
        head = Words(*self._nic.load_words(channel.base + channel.offset[slot] + ROUTE_BYTES, 4))
        copy = channel.index > self._own
        message = (
            channel.stream[slot],
            head.first_sender if copy else NONE,
            head.first_channel if copy else head.source_channel,
        )
        if head.type in SEGMENTS or (head.type == MessageType.CARD_SEGMENT and head.w1 & MORE):
            self._messages.add(message)
        else:
            self._messages.discard(message)

    def forget(self, peer: int) -> None:
        """Forget the tree messages of a restarted NI, because their remaining segments will not arrive."""
        self._messages = {message for message in self._messages if message[1] != peer}

    def has(self, peer: int) -> bool:
        """Return True if segments of a message for a NI are still to come."""
        return any(self._order.peer(stream) == peer for stream, _, _ in self._messages)
