"""The reference of multicast trees: which exist, and who must, may and must not get a message."""

from __future__ import annotations

from dataclasses import dataclass, field

from tb.fuzz.layers.grim.mail import FOREVER, Message, Place

BROADCAST = 0


@dataclass
class Membership:
    """A time in which a place has subscribed. Times are counts of events."""

    begun: int
    certain: int = FOREVER
    """When subscribing had returned."""
    leaving: int = FOREVER
    gone: int = FOREVER


@dataclass
class Trees:
    """All trees of a program."""

    nodes: int
    most: int
    """Option multicast_trees."""
    asked: set[str] = field(default_factory=set)
    found: dict[str, int] = field(default_factory=dict)
    """By name: the number."""
    members: dict[tuple[int, Place], list[Membership]] = field(default_factory=dict)

    def may_be_refused(self, name: str) -> bool:
        """Whether there may be no tree left for a name."""
        return name not in self.found and len(self.asked | {name}) > self.most - 1

    def subscribed(self, tree: int, node: int) -> int:
        """The mask of a node's channels that have subscribed for certain."""
        mask = 0
        for (number, (at, channel)), periods in self.members.items():
            if (number, at) == (tree, node) and periods[-1].certain < FOREVER and periods[-1].leaving == FOREVER:
                mask |= 1 << channel
        return mask

    def places(self, tree: int, message: Message) -> None:
        """Enter where a message that begins now has to and may arrive."""
        if tree == BROADCAST:
            message.must = {(node, 0) for node in range(self.nodes)}
            return
        for (number, place), periods in self.members.items():
            last = periods[-1]
            if number == tree and last.leaving == FOREVER and last.certain < message.begun:
                message.must.add(place)
            elif number == tree and last.gone == FOREVER:
                message.may.add(place)

    def join(self, tree: int, place: Place, now: int, under_way: list[Message]) -> Membership:
        """A place begins to subscribe: messages on their way may reach it."""
        membership = Membership(now)
        self.members.setdefault((tree, place), []).append(membership)
        for message in under_way:
            if message.tree == tree and place not in message.must:
                message.may.add(place)
        return membership

    def leave(self, tree: int, place: Place, now: int, under_way: list[Message]) -> Membership:
        """A place begins to unsubscribe: messages on their way may not reach it any more."""
        membership = self.members[tree, place][-1]
        membership.leaving = now
        for message in under_way:
            if message.tree == tree and place in message.must and place not in message.arrived:
                message.must.discard(place)
                message.may.add(place)
        return membership
