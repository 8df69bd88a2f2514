"""Definition of a layer's small world, and of its nodes' interface to the search."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from pymodels.machine import Machine

ALWAYS = -1


class Play(Protocol):
    """World set up on a machine: the layer is enabled, and every node's program waits for its start."""

    machine: Machine

    def programs(self) -> list[Callable[[], Coroutine[Any, Any, None]]]:
        """Return the program of each node's host."""

    def record(self, node: int) -> tuple[Any, ...]:
        """Return what the node's program has received so far."""

    def idle(self, node: int) -> str:
        """Return a description of what must not be left on a node at the end; empty if nothing is."""

    def normalise(self, node: int) -> None:
        """Replace the state of a node's NIC by a canonical one among those that behave equally."""

    def blind(self, node: int) -> Mapping[str, list[tuple[int, int]]]:
        """Return the ranges of "sram" and "memory" that only count."""


@dataclass(frozen=True)
class Promise:
    """Guarantees of a world. The functions get a node and its record, and return a description of a violation or ""."""

    always: Callable[[int, tuple[Any, ...]], str]
    at_end: Callable[[int, tuple[Any, ...]], str]
    together: Callable[[tuple[tuple[Any, ...], ...]], str] = lambda records: ""
    """Function for the end that gets the records of all nodes."""


@dataclass(frozen=True)
class SmallWorld:
    """Question to the model checker: a set-up, possible faults, and guarantees that must hold in every order."""

    name: str
    question: str
    """Question in one line."""
    play: Callable[[], Play]
    promise: Promise
    say: Callable[[bytes], str]
    """Function that returns the description of a packet."""
    room: int = 2
    """Maximum number of packets of one NIC in the network."""
    faults: frozenset[str] = frozenset()
    """Possible faults of packets, out of FAULTS."""
    times: int = 0
    """Maximum number of faults."""
    early: int = 0
    """Maximum number of early timer firings of a part, while other turns are possible; ALWAYS: unlimited."""
    left_out: tuple[str, ...] = ()
    """Classes of the layer, or attributes as `Class.name`, that only count or describe, or never change."""
    lead: int = 0
    """Number of initial moves that are not chosen. The search covers what can follow them, not alternatives to them."""
    serves: bool = False
    """True if the programs poll over the bus for ever: a poll that finds nothing counts as rest, not as a livelock."""
    expects: str = ""
    """Part of the violation that must be found in a world with a known flaw."""


FAULTS = ("lost", "damaged", "doubled", "overtaken")
