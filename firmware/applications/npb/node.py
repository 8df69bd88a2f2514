"""One rank of a benchmark: its MPI, the time for which it computes, and what it says at its end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from firmware.mpi.host import Mpi


class Node:
    """A rank. `mops`: operations that its processor does in a microsecond, as the benchmark counts operations."""

    def __init__(self, mpi: Mpi, mops: float) -> None:
        self.mpi, self.mops = mpi, mops
        self.comm = mpi.COMM_WORLD
        self.rank, self.size = self.comm.Get_rank(), self.comm.Get_size()
        self.computed_ns = 0.0

    async def compute(self, operations: float) -> None:
        """Use the CPU for so many operations."""
        ns = operations / self.mops * 1000
        self.computed_ns += ns
        await self.mpi.host.compute(ns)

    def share(self, count: int) -> range:
        """The part of `count` equal things that is this rank's; the parts follow one another by rank."""
        return range(self.rank * count // self.size, (self.rank + 1) * count // self.size)


@dataclass(frozen=True)
class Verified:
    """Results of a benchmark beside those that NPB publishes for its class."""

    computed: Mapping[str, float]
    published: Mapping[str, float]
    tolerance: float
    """Relative, as the benchmark has it."""

    @property
    def wrong(self) -> str:
        """What differs, in words; empty: nothing."""
        for name, right in self.published.items():
            if not abs(self.computed[name] - right) <= self.tolerance * abs(right):
                return f"{name} is {self.computed[name]!r}, published {right!r}"
        return ""
