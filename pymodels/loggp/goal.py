"""Schedules in GOAL, the input language of LogGOPSim: sends, receives and calculations of each rank, with
dependencies.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Send:
    """Send of a message to a rank."""

    size: int
    to: int
    tag: int = 0

    def __str__(self) -> str:
        return f"send {self.size}b to {self.to} tag {self.tag}"


@dataclass(frozen=True)
class Recv:
    """Receive of a message from a rank."""

    size: int
    source: int
    tag: int = 0

    def __str__(self) -> str:
        return f"recv {self.size}b from {self.source} tag {self.tag}"


@dataclass(frozen=True)
class Calc:
    """Calculation with a duration in the unit of the parameters."""

    duration: int

    def __str__(self) -> str:
        return f"calc {self.duration}"


Operation = Send | Recv | Calc


@dataclass(frozen=True)
class Step:
    """Operation, and the indices of the earlier steps of its rank that must have finished before it starts."""

    operation: Operation
    requires: tuple[int, ...] = ()


Schedule = Sequence[Sequence[Step]]
"""Steps of each rank."""


def all_to_all(ranks: int, size: int) -> Schedule:
    """Return the schedule of an all-to-all exchange: each rank sends to the ranks after it in turn, then receives from
    the ranks before it, nearest first.
    """
    return [_rank(rank, ranks, size) for rank in range(ranks)]


def _rank(rank: int, ranks: int, size: int) -> list[Step]:
    sends: list[Operation] = [Send(size, (rank + distance) % ranks) for distance in range(1, ranks)]
    receives: list[Operation] = [Recv(size, (rank - distance) % ranks) for distance in range(1, ranks)]
    return [Step(one, (at - 1,) if at else ()) for at, one in enumerate([*sends, *receives])]


def text(schedule: Schedule) -> str:
    """Return a schedule as input for `txt2bin` of LogGOPSim, with the labels l1, l2, ..."""
    return "\n".join([f"num_ranks {len(schedule)}", *_lines(schedule), ""])


def _lines(schedule: Schedule) -> Iterator[str]:
    for rank, steps in enumerate(schedule):
        yield f"\nrank {rank} {{"
        for number, step in enumerate(steps, 1):
            yield f"l{number}: {step.operation}"
            yield from (f"l{number} requires l{earlier + 1}" for earlier in step.requires)
        yield "}"
