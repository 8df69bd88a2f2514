"""Random MPI programs on all ranks, and their violations."""

from __future__ import annotations

import random
from collections.abc import Coroutine, Sequence
from typing import Any, TypeVar

from firmware.mpi.host import Mpi
from tb.studies.mpi._mpi_items import Item, drawn, planned
from tb.studies.mpi._mpi_rank import Rank
from tb.studies.mpi._mpi_reference import compare

T = TypeVar("T")


class Seeded:
    """Choices drawn from a seed."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def whole(self, low: int, high: int) -> int:
        """Draw an integer (see `Chooser`)."""
        return self._random.randint(low, high)

    def one_of(self, values: Sequence[T]) -> T:
        """Draw one of several values (see `Chooser`)."""
        return self._random.choice(values)

    def once_in(self, times: int) -> bool:
        """Draw True with a probability of 1/n (see `Chooser`)."""
        return self._random.randrange(times) == 0


def items_of(seed: int, operations: int, ranks: int) -> list[Item]:
    """Return items that need at least a number of calls of four ranks."""
    choose, found, calls = Seeded(seed), list[Item](), 0
    while calls < operations:
        found.append(drawn(choose, ranks))
        calls += found[-1].calls
    return found


class RandomProgram:
    """Actions of all ranks and their results."""

    def __init__(self, items: Sequence[Item], ranks: int) -> None:
        self.steps = list(planned(items, ranks))
        self.ranks: dict[int, Rank] = {}

    def run(self, mpi: Mpi, number: int) -> Coroutine[Any, Any, None]:
        """Run a rank's part."""
        self.ranks[number] = Rank(mpi, self.steps)
        return self.ranks[number].run()

    def wrong(self) -> list[str]:
        """Return the differences from the sequential reference."""
        found = []
        for number, rank in sorted(self.ranks.items()):
            found += [*rank.wrong, *compare(number, self.steps, rank.log, rank.got)]
        return found

    @property
    def calls(self) -> int:
        """Number of MPI calls by all ranks."""
        return sum(rank.calls for rank in self.ranks.values())

    @property
    def received(self) -> int:
        """Number of messages received."""
        return sum(one is not None for rank in self.ranks.values() for one in rank.got)
