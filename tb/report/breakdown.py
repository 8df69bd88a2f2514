"""Breakdown of message latency: for each kind and size, the message of median latency divided into stages."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from tb.report.life import Life
from tb.report.stages import Stage, stages_of

MOST = 9
"""Maximum number of kinds and sizes shown: the first, the last, and some between."""


@dataclass(frozen=True)
class Breakdown:
    """Message of median latency among those of one kind and size."""

    life: Life
    count: int
    """Number of arrived messages of this kind and size."""
    stages: tuple[Stage, ...]

    @property
    def latency(self) -> int:
        """Latency in ps: the sum of the stages."""
        return sum(stage.duration for stage in self.stages)


def breakdowns(lives: Sequence[Life]) -> list[Breakdown]:
    """Return one breakdown for each kind and size of arrived messages, smallest first.

    Raises ValueError if the stages of a message do not add up to its latency: the trace contradicts itself.
    """
    alike: dict[tuple[str, int], list[Life]] = defaultdict(list)
    for life in lives:
        if life.latency and life.target is not None:
            alike[life.kind, life.size].append(life)
    found = []
    for which in _some(sorted(alike)):
        ordered = sorted(alike[which], key=lambda life: (life.latency or 0, life.number))
        median = ordered[(len(ordered) - 1) // 2]
        one = Breakdown(median, len(ordered), tuple(stages_of(median)))
        if one.latency != median.latency:
            raise ValueError(f"message {median.number}: stages add up to {one.latency} ps of {median.latency} ps")
        found.append(one)
    return found


def names_of(shown: Sequence[Breakdown]) -> list[str]:
    """Return the names of all stages in their order."""
    names: dict[str, None] = {}
    for one in sorted(shown, key=lambda one: -len(one.stages)):
        names.update(dict.fromkeys(stage.name for stage in one.stages))
    return list(names)


def _some(sorts: Sequence[tuple[str, int]]) -> list[tuple[str, int]]:
    if len(sorts) <= MOST:
        return list(sorts)
    return [sorts[round(index * (len(sorts) - 1) / (MOST - 1))] for index in range(MOST)]
