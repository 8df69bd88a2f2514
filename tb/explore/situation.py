"""What the search counts: situations, the moves between them, and what it came to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from tb.explore.part import Step
from tb.explore.world import SmallWorld

NONE = -1
At = tuple[int, int]
"""A state of a part: its number, and how often a timer of the part may still go off early."""
Fifo = tuple[int, ...]
"""Numbers of packets, the oldest first."""
Pair = tuple[At, Step, At]
"""A state, a step, and the state that it led to."""


class Situation(NamedTuple):
    """All states of the world after one history of messages."""

    sets: tuple[frozenset[At], ...]
    """By part: the states that it can be in, each with whatever states the others are in."""
    fifos: tuple[Fifo, ...]
    """By source: what the network holds of it; nothing of it overtakes."""
    late: int
    """A packet beside them, copied or overtaken: it arrives whenever it likes."""
    faults: int
    """That may still happen."""


class Move(NamedTuple):
    """What leads from a situation to the next."""

    kind: str
    """"acts", "arrives", "late", "timer", "rests", or one of FAULTS."""
    part: int
    """Whose set changes; of a packet that is lost or set aside, its source."""
    packet: int = NONE


@dataclass
class Outcome:
    """What a search came to."""

    world: SmallWorld
    situations: int = 0
    transitions: int = 0
    states: int = 0
    """Of the whole world, in all situations together."""
    singly: int = 0
    """States that were also seen one by one, each with a way out; 0: they were not."""
    depth: int = 0
    seconds: float = 0.0
    places: tuple[int, ...] = ()
    """States of each part alone."""
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
    culprits: frozenset[tuple[int, int]] = frozenset()
    """Parts, and the numbers of their states, that show it."""
    way: list[int] = field(default_factory=list)
    """The situations from the beginning to `found`."""
