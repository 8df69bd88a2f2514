"""Reference of multicast trees: existing trees, and places that must, may or must not get a message."""

from __future__ import annotations

from dataclasses import dataclass, field

from tb.studies.grim.fuzz.mail import FOREVER, Message, Place

BROADCAST = 0


@dataclass
class Membership:
    """Period in which a place is subscribed. Times are event counts."""

    begun: int
    certain: int = FOREVER
    """Time at which the subscribing call has returned."""
    leaving: int = FOREVER
    gone: int = FOREVER


@dataclass(eq=False)
class Change:
    """Place that a task subscribes or unsubscribes."""

    tree: int
    place: Place
    joins: bool
    was: bool | None = None
    """True if the place was subscribed before; None if uncertain."""
    alone: bool = True
    """True if no concurrent change of another task makes the result uncertain."""

    @property
    def sure(self) -> bool | None:
        """True if the place was subscribed at the change; None if uncertain."""
        return self.was if self.alone else None


@dataclass
class Trees:
    """All trees of a program."""

    nodes: int
    most: int
    """Value of the option multicast_trees."""
    asked: set[str] = field(default_factory=set)
    found: dict[str, int] = field(default_factory=dict)
    """Tree numbers, by name."""
    members: dict[tuple[int, Place], list[Membership]] = field(default_factory=dict)
    changing: dict[tuple[int, Place], list[Change]] = field(default_factory=dict)
    """Changes in progress."""

    def may_be_refused(self, name: str) -> bool:
        """Return True if no tree may be left for a name."""
        return name not in self.found and len(self.asked | {name}) > self.most - 1

    def member(self, tree: int, place: Place) -> bool | None:
        """Return True if a place is subscribed, None if uncertain."""
        periods = self.members.get((tree, place))
        if not periods or periods[-1].gone < FOREVER:
            return False
        return True if periods[-1].certain < FOREVER and periods[-1].leaving == FOREVER else None

    def places(self, tree: int, message: Message) -> None:
        """Set the places at which a message that begins now must and may arrive."""
        if tree == BROADCAST:
            message.must = {(node, 0) for node in range(self.nodes)}
            return
        for (number, place), periods in self.members.items():
            last = periods[-1]
            if number == tree and last.leaving == FOREVER and last.certain < message.begun:
                message.must.add(place)
            elif number == tree and last.gone == FOREVER:
                message.may.add(place)

    def begin(self, change: Change, now: int, under_way: list[Message]) -> None:
        """Begin a subscription or its end.

        If two tasks change a place in opposite ways at the same time, its subscription is uncertain until the next
        change.
        """
        changes = self.changing.setdefault((change.tree, change.place), [])
        changes.append(change)
        if len(changes) > 1 and not all(one.joins for one in changes):
            for one in changes:
                one.alone = False
        change.was = self.member(change.tree, change.place)
        if change.was is not change.joins:
            (self._join if change.joins else self._leave)(change.tree, change.place, now, under_way)

    def end(self, change: Change, done: bool, now: int) -> None:
        """Complete a change that was done or rejected."""
        changes = self.changing[change.tree, change.place]
        changes.remove(change)
        periods = self.members.get((change.tree, change.place))
        if periods is None:
            return  # the place was never subscribed
        last = periods[-1]
        if not change.alone:
            periods.extend([Membership(now)] * (not changes))
        elif done and change.joins:
            last.certain = min(last.certain, now)
        elif done:
            last.gone = now
        elif last.gone == FOREVER:
            last.leaving = FOREVER

    def _join(self, tree: int, place: Place, now: int, under_way: list[Message]) -> None:
        """Subscribe a place; messages in flight may reach it."""
        self.members.setdefault((tree, place), []).append(Membership(now))
        for message in under_way:
            if message.tree == tree and place not in message.must:
                message.may.add(place)

    def _leave(self, tree: int, place: Place, now: int, under_way: list[Message]) -> None:
        """Unsubscribe a place; messages in flight need not reach it."""
        self.members[tree, place][-1].leaving = now
        for message in under_way:
            if message.tree == tree and place in message.must and place not in message.arrived:
                message.must.discard(place)
                message.may.add(place)
