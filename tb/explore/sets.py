"""Sets of a node's states after one history of packets that left it and reached it.

A set is closed under internal turns, which other nodes cannot observe. Sets are numbered, and the successors of each
are computed once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tb.explore.node import Led, Node

States = frozenset[int]
Following = tuple[tuple[tuple[int, ...], int], ...]
"""Packets that leave, and the number of the resulting set."""


class Sets:
    """Sets of one node."""

    def __init__(self, node: Node) -> None:
        self.node = node
        self.known: list[States] = []
        self._numbers: dict[States, int] = {}
        self._closed: dict[States, int] = {}
        self._acts: dict[tuple[int, bool], Following] = {}
        self._takes: dict[tuple[int, int, bool], Following] = {}
        self._rest: dict[tuple[int, bool, bool], int] = {}
        self._timers: dict[int, Following] = {}

    def closed(self, begin: States) -> int:
        """Return the number of the closure of these states under internal turns."""
        number = self._closed.get(begin)
        if number is None:
            number = self._closed[begin] = self.number(self._closure(begin))
        return number

    def number(self, states: States) -> int:
        """Return the number of a set."""
        number = self._numbers.setdefault(states, len(self.known))
        if number == len(self.known):
            self.known.append(states)
        return number

    def acts(self, number: int, full: bool) -> Following:
        """Return the observable successors of a set; `full`: the network accepts no packet."""
        key = number, full
        found = self._acts.get(key)
        if found is None:
            led = (one for state in self._of(number) for one in self.act(state, full))
            found = self._acts[key] = self._following(led)
        return found

    def act(self, state: int, full: bool) -> Iterator[Led]:
        """Yield the observable turns of a state."""
        turns = self.node.turns(state)
        yield from turns.telling
        if not full:
            yield from turns.sending

    def takes(self, number: int, packet: int, damaged: bool) -> Following:
        """Return the successors of a set after the arrival of a packet."""
        key = number, packet, damaged
        found = self._takes.get(key)
        if found is None:
            led = (one for state in self._of(number) for one in self.node.takes(state, packet, damaged))
            found = self._takes[key] = self._following(led)
        return found

    def rest(self, number: int, full: bool, wanted: bool) -> int:
        """Return the number of the subset of states at rest (`Node.rests`), which is not closed."""
        key = number, full, wanted
        found = self._rest.get(key)
        if found is None:
            resting = frozenset(state for state in self.known[number] if self.node.rests(state, full, wanted))
            found = self._rest[key] = self.number(resting)
        return found

    def timers(self, rest: int) -> Following:
        """Return the successors of states at rest after a timer fires."""
        found = self._timers.get(rest)
        if found is None:
            led = (one for state in self._of(rest) for one in self.node.timers(state))
            found = self._timers[rest] = self._following(led)
        return found

    def _of(self, number: int) -> list[int]:
        return sorted(self.known[number])

    def _closure(self, begin: States) -> States:
        seen, todo = set(begin), list(begin)
        while todo:
            for led in self.node.turns(todo.pop()).inner:
                if led.after not in seen:
                    seen.add(led.after)
                    todo.append(led.after)
        return frozenset(seen)

    def _following(self, led: Iterable[Led]) -> Following:
        """Return the closed set of results for each tuple of leaving packets."""
        found: dict[tuple[int, ...], set[int]] = {}
        for one in led:
            found.setdefault(one.packets, set()).add(one.after)
        return tuple((packets, self.closed(frozenset(states))) for packets, states in found.items())


class Singles(Sets):
    """Sets of one state each: every turn is a move of its own, whether observable or not."""

    def act(self, state: int, full: bool) -> Iterator[Led]:
        """See `Sets`."""
        yield from self.node.turns(state).inner
        yield from super().act(state, full)

    def _closure(self, begin: States) -> States:
        return begin

    def _following(self, led: Iterable[Led]) -> Following:
        return tuple(dict.fromkeys((one.packets, self.closed(frozenset([one.after]))) for one in led))
