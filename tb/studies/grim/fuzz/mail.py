"""Reference of messages: each arrives once, complete, and in the order in which its sender sent it."""

from __future__ import annotations

import random
from collections import defaultdict
from dataclasses import dataclass, field
from itertools import combinations

Place = tuple[int, int]
"""Node and channel."""
INK = bytes(random.Random("ink").choices(range(1, 256), k=1 << 17))
"""Source of all payloads and transfers. It has no 0, so that unwritten memory is detected."""
LONGEST = 20_000
SHIFT = 52
"""Distance of the payloads of two messages in INK."""
INK_BYTES = 16_384 + LONGEST + 12
"""Bytes of INK that payloads are taken from."""
FOREVER = 1 << 62


@dataclass
class Message:
    """Message or multicast of a program. Times are event counts."""

    number: int
    source: Place
    handler: str
    size: int
    begun: int
    ended: int = FOREVER
    tree: int = -1
    must: set[Place] = field(default_factory=set)
    """Places at which it has to arrive."""
    may: set[Place] = field(default_factory=set)
    """Further places at which it may arrive."""
    arrived: dict[Place, int] = field(default_factory=dict)

    @property
    def ink(self) -> int:
        """Offset of its payload in INK."""
        return self.number * SHIFT % 16_384

    @property
    def payload(self) -> bytes:
        """Payload bytes."""
        return INK[self.ink : self.ink + self.size]

    def places_at(self, node: int) -> list[Place]:
        """Return the possible places at a node, the required ones first."""
        return sorted((place for place in self.must | self.may if place[0] == node), key=lambda at: at in self.may)

    def next_at(self, at: Place) -> Place:
        """Return the next place of a node at which it has not arrived."""
        left = [place for place in self.places_at(at[0]) if place not in self.arrived]
        return left[0] if left else at

    def __str__(self) -> str:
        where = f"tree {self.tree}" if self.tree >= 0 else "node {}, channel {}".format(*min(self.must | self.may))
        return "message {} of node {}, channel {} to {} ({} bytes, handler {})".format(
            self.number, *self.source, where, self.size, self.handler
        )


class Mail:
    """All messages of a program."""

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self.wrong: list[str] = []
        self._events = 0
        self._order: dict[tuple[Place, int, Place], list[Message]] = defaultdict(list)
        """Arrived messages by source, tree (or -1) and place."""
        self._at: dict[tuple[int, Place], list[Message]] = defaultdict(list)
        """Arrived messages by tree and place."""

    def event(self) -> int:
        """Return the next event count."""
        self._events += 1
        return self._events

    def begin(self, source: Place, handler: str, size: int, tree: int = -1) -> Message:
        """Record the start of a send. The caller sets the destinations."""
        message = Message(len(self.messages), source, handler, size, self.event(), tree=tree)
        self.messages.append(message)
        return message

    def end(self, message: Message) -> None:
        """Record the return of a send."""
        message.ended = self.event()

    def part(self, node: int) -> None:
        """Make messages in flight to, from or through a node that goes down optional."""
        for message in self.messages:
            self.doubt(message, node)

    def doubt(self, message: Message, node: int) -> None:
        """Make a message optional where a node that is down affects it."""
        lost = {at for at in message.must if node in (at[0], message.source[0]) or message.tree >= 0}
        lost -= set(message.arrived)
        message.must -= lost
        message.may |= lost

    def may_lack(self, source: Place, tree: int, place: Place) -> bool:
        """Return True if an optional message of a source for a tree has not arrived at a place."""
        return any(
            (message.source, message.tree) == (source, tree) and place in message.may and place not in message.arrived
            for message in self.messages
        )

    def arrive(self, at: Place, number: int, source: Place, handler: str, data: bytes) -> Message | None:
        """Check the message of a handler that ran at a place, and return it, or None if it is wrong.

        A handler does not know its channel, so the places of a multicast at one node are counted in turn.
        """
        if not 0 <= number < len(self.messages):
            self.wrong.append(f"node {at[0]}: a handler ran with argument {number:#x}, which no message has")
            return None
        message = self.messages[number]
        if message.tree >= 0:
            at = message.next_at(at)
        if at not in message.must | message.may:
            self.wrong.append(f"{message} arrived at node {at[0]}, channel {at[1]}")
        elif at in message.arrived:
            self.wrong.append(f"{message} arrived twice at node {at[0]}, channel {at[1]}")
        elif (source, handler) != (message.source, message.handler):
            self.wrong.append(f"{message} arrived at node {at[0]} with source {source} and handler {handler}")
        elif data != message.payload:
            self.wrong.append(f"{message} arrived at node {at[0]} with {_differs(data, message.payload)}")
        else:
            message.arrived[at] = self.event()
            if len(message.places_at(at[0])) > 1:
                return message
            self._order[message.source, message.tree, at].append(message)
            if message.tree >= 0:
                self._at[message.tree, at].append(message)
            return message
        return None

    def missing(self) -> list[str]:
        """Return a description of each required message that has not arrived."""
        return [
            f"{message} has not arrived at node {node}, channel {channel}"
            for message in self.messages
            for node, channel in sorted(message.must - set(message.arrived))
        ]

    def disorder(self) -> list[str]:
        """Return a description of each reordered pair of one stream, and of trees without a common order."""
        found = [
            f"{late} overtook {early}"
            for arrived in self._order.values()
            for late, early in combinations(arrived, 2)
            if early.ended < late.begun
        ]
        for (tree, one), (other_tree, other) in combinations(self._at, 2):
            if tree == other_tree:
                here, there = self._at[tree, one], self._at[tree, other]
                both = [message for message in here if message in there]
                if both != [message for message in there if message in here]:
                    found.append(f"tree {tree}: nodes {one[0]} and {other[0]} have its messages in different orders")
        return found


def _differs(data: bytes, wanted: bytes) -> str:
    if len(data) != len(wanted):
        return f"{len(data)} bytes in place of {len(wanted)}"
    first = next(i for i, (a, b) in enumerate(zip(data, wanted, strict=True)) if a != b)
    return f"other bytes from {first} on"
