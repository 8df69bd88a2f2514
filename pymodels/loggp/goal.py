"""Schedules in GOAL, the language in which LogGOPSim reads what each rank does: sends, receives, calculations, and
which of them begins only when another one is done.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Send:
    """A message to a rank."""

    size: int
    to: int
    tag: int = 0

    def __str__(self) -> str:
        return f"send {self.size}b to {self.to} tag {self.tag}"


@dataclass(frozen=True)
class Recv:
    """A message of a rank."""

    size: int
    source: int
    tag: int = 0

    def __str__(self) -> str:
        return f"recv {self.size}b from {self.source} tag {self.tag}"


@dataclass(frozen=True)
class Calc:
    """Computing for so long, in the unit of the parameters."""

    duration: int

    def __str__(self) -> str:
        return f"calc {self.duration}"


Operation = Send | Recv | Calc


@dataclass(frozen=True)
class Step:
    """An operation, and the earlier ones of its rank, by number, that must be done before."""

    operation: Operation
    requires: tuple[int, ...] = ()


Schedule = Sequence[Sequence[Step]]
"""Steps of each rank."""


def all_to_all(ranks: int, size: int) -> Schedule:
    """Each rank sends to the one behind it, the next one, and so on round; then it receives, from the one before it
    first.
    """
    return [_rank(rank, ranks, size) for rank in range(ranks)]


def _rank(rank: int, ranks: int, size: int) -> list[Step]:
    sends: list[Operation] = [Send(size, (rank + distance) % ranks) for distance in range(1, ranks)]
    receives: list[Operation] = [Recv(size, (rank - distance) % ranks) for distance in range(1, ranks)]
    return [Step(one, (at - 1,) if at else ()) for at, one in enumerate([*sends, *receives])]


def text(schedule: Schedule) -> str:
    """A schedule as `txt2bin` of LogGOPSim reads it: steps have the labels l1, l2, ..."""
    return "\n".join([f"num_ranks {len(schedule)}", *_lines(schedule), ""])


def _lines(schedule: Schedule) -> Iterator[str]:
    for rank, steps in enumerate(schedule):
        yield f"\nrank {rank} {{"
        for number, step in enumerate(steps, 1):
            yield f"l{number}: {step.operation}"
            yield from (f"l{number} requires l{earlier + 1}" for earlier in step.requires)
        yield "}"
