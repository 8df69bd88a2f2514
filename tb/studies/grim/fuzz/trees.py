"""The reference of multicast trees: which exist, and who must, may and must not get a message."""

from __future__ import annotations

from dataclasses import dataclass, field

from tb.studies.grim.fuzz.mail import FOREVER, Message, Place

BROADCAST = 0


@dataclass
class Membership:
    """A time in which a place has subscribed. Times are counts of events."""

    begun: int
    certain: int = FOREVER
    """When subscribing had returned."""
    leaving: int = FOREVER
    gone: int = FOREVER


@dataclass(eq=False)
class Change:
    """A place that a task subscribes or unsubscribes."""

    tree: int
    place: Place
    joins: bool
    was: bool | None = None
    """Whether the place had subscribed before; None: it may have."""
    alone: bool = True
    """No other task's change of the place made this one's end uncertain."""

    @property
    def sure(self) -> bool | None:
        """Whether the place had subscribed when the change was made; None: it may have."""
        return self.was if self.alone else None


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
    changing: dict[tuple[int, Place], list[Change]] = field(default_factory=dict)
    """Changes that are not over."""

    def may_be_refused(self, name: str) -> bool:
        """Whether there may be no tree left for a name."""
        return name not in self.found and len(self.asked | {name}) > self.most - 1

    def member(self, tree: int, place: Place) -> bool | None:
        """Whether a place has subscribed; None: it may have."""
        periods = self.members.get((tree, place))
        if not periods or periods[-1].gone < FOREVER:
            return False
        return True if periods[-1].certain < FOREVER and periods[-1].leaving == FOREVER else None

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

    def begin(self, change: Change, now: int, under_way: list[Message]) -> None:
        """A task begins to subscribe or unsubscribe a place. While one does the one and another the other, nobody knows
        which of both will be the last: the place may have subscribed until somebody changes it again.
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
        """It is over: done, or refused."""
        changes = self.changing[change.tree, change.place]
        changes.remove(change)
        periods = self.members.get((change.tree, change.place))
        if periods is None:
            return  # nobody has subscribed it ever
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
        """Messages on their way may reach it."""
        self.members.setdefault((tree, place), []).append(Membership(now))
        for message in under_way:
            if message.tree == tree and place not in message.must:
                message.may.add(place)

    def _leave(self, tree: int, place: Place, now: int, under_way: list[Message]) -> None:
        """Messages on their way may not reach it any more."""
        self.members[tree, place][-1].leaving = now
        for message in under_way:
            if message.tree == tree and place in message.must and place not in message.arrived:
                message.must.discard(place)
                message.may.add(place)
