"""Rank of a benchmark: its MPI, its computing time, and its result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from firmware.mpi.host import Mpi


class Node:
    """Rank of a benchmark; `mops` is the processor's number of operations in a microsecond, as the benchmark counts
    them.
    """

    def __init__(self, mpi: Mpi, mops: float) -> None:
        self.mpi, self.mops = mpi, mops
        self.comm = mpi.COMM_WORLD
        self.rank, self.size = self.comm.Get_rank(), self.comm.Get_size()
        self.computed_ns = 0.0

    async def compute(self, operations: float) -> None:
        """Compute for a number of operations."""
        ns = operations / self.mops * 1000
        self.computed_ns += ns
        await self.mpi.host.compute(ns)

    def share(self, count: int) -> range:
        """Return this rank's part of `count` equal items; the parts are ordered by rank."""
        return range(self.rank * count // self.size, (self.rank + 1) * count // self.size)


@dataclass(frozen=True)
class Verified:
    """Results of a benchmark and the values that NPB publishes for its class."""

    computed: Mapping[str, float]
    published: Mapping[str, float]
    tolerance: float
    """Relative tolerance defined by the benchmark."""

    @property
    def wrong(self) -> str:
        """Description of the first wrong result, or an empty string."""
        for name, right in self.published.items():
            if not abs(self.computed[name] - right) <= self.tolerance * abs(right):
                return f"{name} is {self.computed[name]!r}, published {right!r}"
        return ""
