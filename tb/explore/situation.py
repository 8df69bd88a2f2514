"""Situations of the search, moves between them, and the outcome."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from tb.explore.sets import States
from tb.explore.world import SmallWorld

NONE = -1
Fifo = tuple[int, ...]
"""Numbers of packets, oldest first."""


class Situation(NamedTuple):
    """All states of the world after one history of packets."""

    sets: tuple[int, ...]
    """Number of the set of possible states of each node; all combinations are possible."""
    fifos: tuple[Fifo, ...]
    """Packets of each source in the network, which keep their order."""
    late: int
    """Additional packet, duplicated or overtaken, that may arrive at any time."""
    faults: int
    """Number of faults that may still happen."""


class Move(NamedTuple):
    """Move from one situation to the next."""

    kind: str
    """Kind of the move: "begins", "acts", "arrives", "late", "timer", or a member of FAULTS."""
    node: int
    """Node whose set changes; for a lost or overtaken packet its source."""
    packet: int = NONE
    sent: tuple[int, ...] = ()
    """Packets that leave the node."""


@dataclass
class Outcome:
    """Outcome of a search."""

    world: SmallWorld
    situations: int = 0
    transitions: int = 0
    states: int = 0
    """Number of world states, summed over all situations."""
    depth: int = 0
    seconds: float = 0.0
    processor_s: float = 0.0
    """CPU time in seconds, which does not depend on the load of the machine."""
    places: tuple[int, ...] = ()
    """Number of states of each part."""
    nodes: tuple[int, ...] = ()
    """Number of states of each node."""
    worked_out: int = 0
    """Number of steps executed on the machine."""
    exhausted: bool = False
    interrupted: bool = False
    """True if the user interrupted the search."""
    ends: int = 0
    """Number of situations in which everything can be done."""
    wrong: str = ""
    """Description of the violation; empty if none was found."""
    found: int = NONE
    """Number of the situation that shows the violation."""
    culprits: Mapping[int, States] = field(default_factory=dict)
    """States of each node that show the violation."""
    way: list[int] = field(default_factory=list)
    """Situations from the beginning to `found`."""
