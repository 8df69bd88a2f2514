"""Collectives of pickled Python objects, by mpi4py's lower-case names; lengths are exchanged first."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np

from firmware.mpi.host.buffers import View, view
from firmware.mpi.host.calls import call
from firmware.mpi.host.errors import ErrorClass, Misuse
from firmware.mpi.host.operators import SUM, Op
from firmware.mpi.host.parts import equal_parts, parts_of
from firmware.mpi.host.reducing import Reducing
from firmware.mpi.host.steps import Collective


class Objects(Reducing):
    """Collectives bcast, gather, scatter, allgather, alltoall, reduce, allreduce and barrier of objects."""

    async def barrier(self) -> None:
        """Wait until all ranks have called it."""
        await self.Barrier()

    @call("MPI_Bcast")
    async def bcast(self, obj: Any = None, root: int = 0) -> Any:
        """Return the root's object at all ranks."""
        mine = pickle.dumps(obj) if self.rank == self._root(root) else b""
        length = np.array([len(mine)], "<i8")
        await self._bcast(Collective.Bcast, view(length, True), root)
        room = bytearray(mine) if mine else bytearray(int(length[0]))
        await self._bcast(Collective.Bcast, view(room, True), root)
        return _loaded(room)

    @call("MPI_Gather")
    async def gather(self, sendobj: Any, root: int = 0) -> list[Any] | None:
        """Return the objects of all ranks at the root, None elsewhere."""
        root = self._root(root)
        mine, lengths = pickle.dumps(sendobj), _lengths(self.size)
        here = self.rank == root
        into = equal_parts(lengths, self.size, True) if here else []
        await self._gather(Collective.Gather, _length(mine), into, root)
        rooms = _rooms(lengths) if here else []
        await self._gather(Collective.Gather, mine, rooms, root)
        return _objects(rooms) if here else None

    @call("MPI_Scatter")
    async def scatter(self, sendobj: Sequence[Any] | None = None, root: int = 0) -> Any:
        """Return this rank's object of the root's list."""
        out: list[bytes] = self._pickled(sendobj) if self.rank == self._root(root) else []
        length = np.zeros(1, "<i8")
        await self._scatter(Collective.Scatter, [view(_length(one)) for one in out], length, root)
        room = bytearray(int(length[0]))
        await self._scatter(Collective.Scatter, [view(one) for one in out], room, root)
        return _loaded(room)

    @call("MPI_Allgather")
    async def allgather(self, sendobj: Any) -> list[Any]:
        """Return the objects of all ranks at all ranks."""
        return await self._everywhere(Collective.Allgather, sendobj)

    @call("MPI_Alltoall")
    async def alltoall(self, sendobj: Sequence[Any]) -> list[Any]:
        """Return the objects from all ranks for this one."""
        out, lengths = self._pickled(sendobj), _lengths(self.size)
        into = equal_parts(lengths, self.size, True)
        await self._alltoall(Collective.Alltoall, [view(_length(one)) for one in out], into)
        rooms = _rooms(lengths)
        await self._alltoall(Collective.Alltoall, [view(one) for one in out], rooms)
        return _objects(rooms)

    async def reduce(self, sendobj: Any, op: Op = SUM, root: int = 0) -> Any:
        """Return all objects folded in the order of ranks at the root, None elsewhere."""
        found = await self.gather(sendobj, root)
        return None if found is None else reduce(op.fold, found)

    @call("MPI_Allreduce")
    async def allreduce(self, sendobj: Any, op: Op = SUM) -> Any:
        """Return all objects folded in the order of ranks at all ranks."""
        return reduce(op.fold, await self._everywhere(Collective.Allreduce, sendobj))

    async def _everywhere(self, collective: Collective, obj: Any) -> list[Any]:
        mine, lengths = pickle.dumps(obj), _lengths(self.size)
        await self._allgather(collective, _length(mine), equal_parts(lengths, self.size, True))
        rooms = _rooms(lengths)
        await self._allgather(collective, mine, rooms)
        return _objects(rooms)

    def _pickled(self, objects: Sequence[Any] | None) -> list[bytes]:
        """Return one pickled object a rank. Raises Misuse."""
        if objects is None or len(objects) != self.size:
            cause = f"{0 if objects is None else len(objects)} objects for {self.size} ranks"
            raise Misuse(ErrorClass.COUNT, cause, "give one for each rank")
        return [pickle.dumps(one) for one in objects]


def _length(data: bytes) -> Any:
    return np.array([len(data)], "<i8")


def _lengths(size: int) -> Any:
    return np.zeros(size, "<i8")


def _rooms(lengths: Any) -> list[View]:
    """Return buffers for objects of the given lengths."""
    return parts_of([bytearray(int(lengths.sum())), [int(one) for one in lengths]], len(lengths), True)


def _objects(rooms: Sequence[View]) -> list[Any]:
    return [_loaded(one.packed()) for one in rooms]


def _loaded(data: bytes | bytearray | memoryview) -> Any:
    return pickle.loads(data)  # noqa: S301 - a rank of the same program sent it
