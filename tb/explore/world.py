"""What a layer's small world consists of, and what a node of it looks like to the search."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from pymodels.machine import Machine

ALWAYS = -1


class Play(Protocol):
    """One world set up on a machine: the layer is enabled, and every node's program waits for `go`."""

    machine: Machine

    def programs(self) -> list[Callable[[], Coroutine[Any, Any, None]]]:
        """By node: what its host does."""

    def record(self, node: int) -> tuple[Any, ...]:
        """What the node's program has seen so far."""

    def idle(self, node: int) -> str:
        """What is left on a node that must not be when nothing more happens; empty: nothing."""

    def normalise(self, node: int) -> None:
        """Give the state of a node's NIC, of those that behave alike from now on, one form: so that they are one."""

    def blind(self, node: int) -> Mapping[str, list[tuple[int, int]]]:
        """By "sram" and "memory": ranges that only count."""


@dataclass(frozen=True)
class Promise:
    """What must hold. Both get a node and what its program has seen, and say what is wrong, or nothing."""

    always: Callable[[int, tuple[Any, ...]], str]
    at_end: Callable[[int, tuple[Any, ...]], str]
    together: Callable[[tuple[tuple[Any, ...], ...]], str] = lambda records: ""
    """The same at the end, of what all programs have seen, by node."""


@dataclass(frozen=True)
class SmallWorld:
    """One question: a set-up, what may go wrong, and what must hold whatever the order."""

    name: str
    question: str
    """In one line."""
    play: Callable[[], Play]
    promise: Promise
    say: Callable[[bytes], str]
    """A packet, in words."""
    room: int = 2
    """Packets of one NIC that the network holds."""
    faults: frozenset[str] = frozenset()
    """What may happen to packets: of FAULTS."""
    times: int = 0
    """Faults at most."""
    early: int = 0
    """Times at most that a timer of a part goes off while something else could happen; ALWAYS: it is like any turn."""
    left_out: tuple[str, ...] = ()
    """Classes of the layer, or attributes as `Class.name`, that only count or describe, or never change."""
    lead: int = 0
    """So many moves are not chosen: the search begins behind them. It tells of what can follow, not of what could have
    come in their place."""
    serves: bool = False
    """Its programs look over the bus for ever: a look that finds nothing is rest, not a round without an end."""
    expects: str = ""
    """For a world with a known flaw: words of what must be found in it."""


FAULTS = ("lost", "damaged", "doubled", "overtaken")
