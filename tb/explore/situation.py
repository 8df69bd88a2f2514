"""What the search counts: situations, the moves between them, and what it came to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from tb.explore.sets import States
from tb.explore.world import SmallWorld

NONE = -1
Fifo = tuple[int, ...]
"""Numbers of packets, the oldest first."""


class Situation(NamedTuple):
    """All states of the world after one history of packets."""

    sets: tuple[int, ...]
    """By node: the number of the set of states that it can be in, each with whatever states the others are in."""
    fifos: tuple[Fifo, ...]
    """By source: what the network holds of it; nothing of it overtakes."""
    late: int
    """A packet beside them, copied or overtaken: it arrives whenever it likes."""
    faults: int
    """That may still happen."""


class Move(NamedTuple):
    """What leads from a situation to the next."""

    kind: str
    """"begins", "acts", "arrives", "late", "timer", or one of FAULTS."""
    node: int
    """Whose set changes; of a packet that is lost or set aside, its source."""
    packet: int = NONE
    sent: tuple[int, ...] = ()
    """Packets that leave the node."""


@dataclass
class Outcome:
    """What a search came to."""

    world: SmallWorld
    situations: int = 0
    transitions: int = 0
    states: int = 0
    """Of the whole world, in all situations together."""
    depth: int = 0
    seconds: float = 0.0
    processor_s: float = 0.0
    """Seconds of a processor: the same whatever else the machine does."""
    places: tuple[int, ...] = ()
    """States of each part alone."""
    nodes: tuple[int, ...] = ()
    """States of each node."""
    worked_out: int = 0
    """Steps that were taken on the machine."""
    exhausted: bool = False
    interrupted: bool = False
    """By whoever asked."""
    ends: int = 0
    """Situations in which everything can be done."""
    wrong: str = ""
    """What was found; empty: nothing."""
    found: int = NONE
    """The situation that shows it."""
    culprits: Mapping[int, States] = field(default_factory=dict)
    """By node: its states that show it."""
    way: list[int] = field(default_factory=list)
    """The situations from the beginning to `found`."""
