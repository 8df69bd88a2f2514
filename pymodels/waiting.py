"""Who waits for whom: the waits that software declares, and the cycles in them.

A wait is an edge: somebody wants a resource that somebody holds. Edges come from three places: the reason of a future
(`Wanted` in the place of a text), what software declares in `Waits` (a polling loop waits for everything at once, so
only the program knows what it lacks), and what the hardware holds (`tb.stuck.network`). A cycle of waits is a deadlock.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Wanted:
    """What somebody waits for: a resource, and who holds it (`""` when nobody is known to)."""

    resource: str
    holder: str = ""

    def __str__(self) -> str:
        return f"{self.resource}, held by {self.holder}" if self.holder else self.resource


@dataclass(frozen=True)
class Wait:
    """One edge: `waiter` wants something."""

    waiter: str
    wanted: Wanted

    def __str__(self) -> str:
        return f"{self.waiter} waits for {self.wanted}"


def unit_of(name: str) -> str:
    """The unit that a task belongs to: `NIC 0` of `NIC 0: grim program`."""
    return name.partition(": ")[0]


class Waits:
    """What software declares of its waiting. Costs nothing where nobody waits: call it only around a wait."""

    def __init__(self) -> None:
        self._wants: dict[tuple[str, str], str] = {}
        self._holds: dict[str, str] = {}
        self._tellers: list[Callable[[], Iterable[Wait]]] = []

    def ask(self, teller: Callable[[], Iterable[Wait]]) -> None:
        """Register a `teller`, which computes waits on demand instead of declaring each one."""
        self._tellers.append(teller)

    def end(self, waiter: str) -> None:
        """A processor stops: it waits for nothing any more, whatever it declared."""
        self._wants = {name: holder for name, holder in self._wants.items() if name[0] != waiter}
        self._tellers = [_but(waiter, teller) for teller in self._tellers]

    def want(self, waiter: str, resource: str, holder: str = "") -> None:
        """`waiter` lacks `resource` from now on. Without a `holder` it is whoever `hold` names when asked."""
        self._wants[waiter, resource] = holder

    def got(self, waiter: str, resource: str) -> None:
        """`waiter` no longer lacks it; nothing when it did not."""
        self._wants.pop((waiter, resource), None)

    def hold(self, holder: str, resource: str) -> None:
        """`holder` has the resource, which only one can have at a time."""
        self._holds[resource] = holder

    def free(self, resource: str) -> None:
        """Nobody has the resource any more; nothing when nobody had."""
        self._holds.pop(resource, None)

    def known(self, wanted: Wanted) -> Wanted:
        """The same with its holder, where one is known."""
        return wanted if wanted.holder else Wanted(wanted.resource, self._holds.get(wanted.resource, ""))

    def declared(self) -> list[Wait]:
        """Every wait in force, in the order of its beginning; then what the tellers say."""
        wants = [Wait(who, self.known(Wanted(what, holder))) for (who, what), holder in self._wants.items()]
        return wants + [wait for teller in self._tellers for wait in teller()]


def _but(waiter: str, teller: Callable[[], Iterable[Wait]]) -> Callable[[], Iterable[Wait]]:
    """The waits that a teller reports, without those of `waiter`."""
    return lambda: (wait for wait in teller() if wait.waiter != waiter)


def cycles(waits: Iterable[Wait]) -> list[tuple[Wait, ...]]:
    """The shortest cycle of waiting through each unit that is in one, no cycle twice; a cycle ends where it begins.

    Tasks count as their unit. Each cycle begins with its first waiter by name, and the list is in that order.
    """
    edges: dict[str, list[Wait]] = {}
    for wait in waits:
        if wait.wanted.holder:
            edges.setdefault(unit_of(wait.waiter), []).append(wait)
    found: dict[frozenset[Wait], tuple[Wait, ...]] = {}
    for start in sorted(edges):
        cycle = _shortest(edges, start)
        if cycle:
            found.setdefault(frozenset(cycle), cycle)
    return list(found.values())


def _shortest(edges: dict[str, list[Wait]], start: str) -> tuple[Wait, ...]:
    """The shortest way from a unit along its waits back to itself; empty when there is none."""
    ways: dict[str, tuple[Wait, ...]] = {start: ()}
    todo = deque([start])
    while todo:
        unit = todo.popleft()
        for wait in edges.get(unit, ()):
            target = unit_of(wait.wanted.holder)
            if target == start:
                return (*ways[unit], wait)
            if target not in ways:
                ways[target] = (*ways[unit], wait)
                todo.append(target)
    return ()
