"""Collectives of random programs: each rank's call and its independently computed result."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from firmware.mpi.host import BXOR, MAX, SUM, Op
from tb.studies.mpi._mpi_items import Step

Array = NDArray[np.int64]
NOTHING = -7
"""Initial value of a buffer, which must stay where no data are due."""


def first(left: Any, right: Any) -> Any:
    """Return the left operand: an operator that does not commute."""
    return left


def last(left: Any, right: Any) -> Any:
    """Return the right operand: an operator that does not commute."""
    return right


OPERATORS: Mapping[str, tuple[Op, Callable[[Any, Any], Any]]] = MappingProxyType(
    {
        "SUM": (SUM, lambda left, right: left + right),
        "MAX": (MAX, np.maximum),
        "BXOR": (BXOR, lambda left, right: left ^ right),
        "first": (Op.Create(first), first),
        "last": (Op.Create(last), last),
    }
)


class Collective:
    """Collective of a part of the ranks; `rank` is that in the communicator."""

    def __init__(self, step: Step, rank: int, size: int) -> None:
        item = step.item
        self.name, self.count, self.root = item.name, item.size, item.second % size
        self.op, self._fold = OPERATORS[item.mode]
        self.rank, self.size, self._salt = rank, size, step.number
        self.counts = [(self.count + 3 * one) % 5 * (self.count > 0) for one in range(size)]
        """Counts of the calls with parts of any length."""

    def given(self, rank: int, elements: int) -> Array:
        """Return the data of a rank."""
        return (1009 * self._salt + 101 * rank + np.arange(elements, dtype=np.int64)) % 65_521

    async def call(self, comm: Any) -> tuple[Array, Array]:
        """Make the call. Return this rank's result and the expected one."""
        return await getattr(self, f"_{self.name.lower()}")(comm)  # type: ignore[no-any-return]

    @property
    def _here(self) -> bool:
        return self.rank == self.root

    def _room(self, elements: int, here: bool = True) -> Array:
        return np.full(elements if here else 0, NOTHING, np.int64)

    def _every(self, elements: int) -> list[Array]:
        return [self.given(rank, elements) for rank in range(self.size)]

    # ---- that move data

    async def _barrier(self, comm: Any) -> tuple[Array, Array]:
        await comm.Barrier()
        return self._room(0), self._room(0)

    async def _bcast(self, comm: Any) -> tuple[Array, Array]:
        data = self.given(self.root, self.count)
        room = data.copy() if self._here else self._room(self.count)
        await comm.Bcast(room, self.root)
        return room, data

    async def _objects(self, comm: Any) -> tuple[Array, Array]:
        data = self.given(self.root, self.count)
        found = await comm.bcast(list(data) if self._here else None, self.root)
        return np.array(found, np.int64), data

    async def _gather(self, comm: Any) -> tuple[Array, Array]:
        room = self._room(self.size * self.count, self._here)
        await comm.Gather(self.given(self.rank, self.count), room, self.root)
        return room, np.concatenate(self._every(self.count)) if self._here else room[:0]

    async def _scatter(self, comm: Any) -> tuple[Array, Array]:
        whole, room = self.given(self.root, self.size * self.count), self._room(self.count)
        await comm.Scatter(whole if self._here else None, room, self.root)
        return room, whole[self.rank * self.count :][: self.count]

    async def _allgather(self, comm: Any) -> tuple[Array, Array]:
        room = self._room(self.size * self.count)
        await comm.Allgather(self.given(self.rank, self.count), room)
        return room, np.concatenate(self._every(self.count))

    async def _alltoall(self, comm: Any) -> tuple[Array, Array]:
        room = self._room(self.size * self.count)
        await comm.Alltoall(self.given(self.rank, self.size * self.count), room)
        return room, np.concatenate([one[self.rank * self.count :][: self.count] for one in self._every(len(room))])

    def _spread(self, parts: list[Array]) -> tuple[list[int], Array]:
        """Return displacements with a gap behind each part, and the buffer with the parts."""
        places = [sum(len(part) + 1 for part in parts[:at]) for at in range(len(parts))]
        whole = self._room(sum(len(part) + 1 for part in parts))
        for at, part in zip(places, parts, strict=True):
            whole[at : at + len(part)] = part
        return places, whole

    async def _gatherv(self, comm: Any) -> tuple[Array, Array]:
        places, due = self._spread([self.given(one, self.counts[one]) for one in range(self.size)])
        room = self._room(len(due), self._here)
        into = [room, self.counts, places] if self._here else None
        await comm.Gatherv(self.given(self.rank, self.counts[self.rank]), into, self.root)
        return room, due if self._here else room

    async def _allgatherv(self, comm: Any) -> tuple[Array, Array]:
        places, due = self._spread([self.given(one, self.counts[one]) for one in range(self.size)])
        room = self._room(len(due))
        await comm.Allgatherv(self.given(self.rank, self.counts[self.rank]), [room, self.counts, places])
        return room, due

    async def _scatterv(self, comm: Any) -> tuple[Array, Array]:
        parts = [self.given(one, self.counts[one]) for one in range(self.size)]
        places, whole = self._spread(parts)
        room = self._room(self.counts[self.rank])
        await comm.Scatterv([whole, self.counts, places] if self._here else None, room, self.root)
        return room, parts[self.rank]

    async def _alltoallv(self, comm: Any) -> tuple[Array, Array]:
        """Make an `Alltoallv` in which rank i gives rank j (i + j) % 3 elements."""
        own = [self.given(self.rank + self.size * one, (self.rank + one) % 3) for one in range(self.size)]
        parts = [self.given(one + self.size * self.rank, (self.rank + one) % 3) for one in range(self.size)]
        (out, given), (into, due) = self._spread(own), self._spread(parts)
        counts, room = [len(one) for one in own], self._room(len(due))
        await comm.Alltoallv([given, counts, out], [room, counts, into])
        return room, due

    # ---- that compute

    def _folded(self, ranks: int, elements: int) -> Array:
        """Return the data of the first ranks, reduced by an operator."""
        return reduce(self._fold, [self.given(rank, elements) for rank in range(ranks)])

    async def _reduce(self, comm: Any) -> tuple[Array, Array]:
        room = self._room(self.count, self._here)
        await comm.Reduce(self.given(self.rank, self.count), room if self._here else None, self.op, self.root)
        return room, self._folded(self.size, self.count) if self._here else room

    async def _allreduce(self, comm: Any) -> tuple[Array, Array]:
        room = self._room(self.count)
        await comm.Allreduce(self.given(self.rank, self.count), room, self.op)
        return room, self._folded(self.size, self.count)

    async def _scan(self, comm: Any) -> tuple[Array, Array]:
        room = self._room(self.count)
        await comm.Scan(self.given(self.rank, self.count), room, self.op)
        return room, self._folded(self.rank + 1, self.count)

    async def _exscan(self, comm: Any) -> tuple[Array, Array]:
        room = self._room(self.count)
        await comm.Exscan(self.given(self.rank, self.count), room, self.op)
        return room, self._folded(self.rank, self.count) if self.rank else self._room(self.count)

    async def _reduce_scatter_block(self, comm: Any) -> tuple[Array, Array]:
        room, whole = self._room(self.count), self.size * self.count
        await comm.Reduce_scatter_block(self.given(self.rank, whole), room, self.op)
        return room, self._folded(self.size, whole)[self.rank * self.count :][: self.count]

    async def _reduce_scatter(self, comm: Any) -> tuple[Array, Array]:
        room, whole = self._room(self.counts[self.rank]), sum(self.counts)
        await comm.Reduce_scatter(self.given(self.rank, whole), room, self.counts, self.op)
        return room, self._folded(self.size, whole)[sum(self.counts[: self.rank]) :][: len(room)]
