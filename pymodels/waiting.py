"""Declared waits of software and hardware, and detection of cycles among them.

A wait is an edge from a task to the holder of a resource. A cycle of waits is a deadlock. Edges have three sources:

- the reason of a future, `Wanted` in place of a text;
- declarations of software in `Waits`, since a polling loop waits for everything at once and only the program knows
  what it lacks;
- the hardware (`tb.stuck.network`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Wanted:
    """Resource that a task waits for, and its holder (`""` if unknown)."""

    resource: str
    holder: str = ""

    def __str__(self) -> str:
        return f"{self.resource}, held by {self.holder}" if self.holder else self.resource


@dataclass(frozen=True)
class Wait:
    """Edge of the wait graph: a waiting task or unit, and the wanted resource."""

    waiter: str
    wanted: Wanted

    def __str__(self) -> str:
        return f"{self.waiter} waits for {self.wanted}"


def unit_of(name: str) -> str:
    """Return the unit that a task belongs to: `NIC 0` for `NIC 0: grim program`."""
    return name.partition(": ")[0]


class Waits:
    """Waits declared by software. Declarations cost nothing on fast paths: software makes them only around an actual
    wait.
    """

    def __init__(self) -> None:
        self._wants: dict[tuple[str, str], str] = {}
        self._holds: dict[str, str] = {}
        self._sources: list[Callable[[], Iterable[Wait]]] = []

    def register(self, source: Callable[[], Iterable[Wait]]) -> None:
        """Register a function that computes waits on demand, in place of single declarations."""
        self._sources.append(source)

    def end(self, waiter: str) -> None:
        """Remove all waits of a stopped processor."""
        self._wants = {name: holder for name, holder in self._wants.items() if name[0] != waiter}
        self._sources = [_but(waiter, source) for source in self._sources]

    def want(self, waiter: str, resource: str, holder: str = "") -> None:
        """Declare that `waiter` lacks `resource`. Without `holder` the resource's holder is the one declared by
        `hold`.
        """
        self._wants[waiter, resource] = holder

    def got(self, waiter: str, resource: str) -> None:
        """Withdraw a declared wait, if there is one."""
        self._wants.pop((waiter, resource), None)

    def hold(self, holder: str, resource: str) -> None:
        """Declare the exclusive holder of a resource."""
        self._holds[resource] = holder

    def free(self, resource: str) -> None:
        """Withdraw the holder of a resource, if there is one."""
        self._holds.pop(resource, None)

    def known(self, wanted: Wanted) -> Wanted:
        """Return a wanted resource with its holder filled in, if the holder is known."""
        return wanted if wanted.holder else Wanted(wanted.resource, self._holds.get(wanted.resource, ""))

    def declared(self) -> list[Wait]:
        """Return all waits: declared ones in order of declaration, then those of the registered functions."""
        wants = [Wait(who, self.known(Wanted(what, holder))) for (who, what), holder in self._wants.items()]
        return wants + [wait for source in self._sources for wait in source()]


def _but(waiter: str, source: Callable[[], Iterable[Wait]]) -> Callable[[], Iterable[Wait]]:
    """Return a function with the waits of `source` except those of `waiter`."""
    return lambda: (wait for wait in source() if wait.waiter != waiter)


def cycles(waits: Iterable[Wait]) -> list[tuple[Wait, ...]]:
    """Return the distinct cycles of waits: for each unit in a cycle, the shortest one through it.

    Tasks count as their unit. Each cycle begins with its first waiter by name, and the list is sorted by these names.
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
    """Return the shortest cycle of waits through a unit; empty if there is none."""
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
