"""Reductions. A commutative operator is applied along a binomial tree, another one in the order of ranks at the root.

Equal ranks and data give bit-identical results.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from firmware.mpi.host.buffers import Spec, View, view
from firmware.mpi.host.calls import call
from firmware.mpi.host.errors import ErrorClass, Misuse
from firmware.mpi.host.moving import Moving
from firmware.mpi.host.operators import SUM, Op
from firmware.mpi.host.parts import InPlace, equal_parts, parts_of
from firmware.mpi.host.steps import Collective


class Reducing(Moving):
    """Collectives Reduce, Allreduce, Reduce_scatter, Reduce_scatter_block, Scan, Exscan, and Reduce_local."""

    @call("MPI_Reduce")
    async def Reduce(self, sendbuf: Spec, recvbuf: Spec, op: Op = SUM, root: int = 0) -> None:
        """Reduce all ranks' arrays element by element at the root (`MPI_Reduce`)."""
        root = self._root(root)
        into = view(recvbuf, True) if self.rank == root else None
        await self._reduce(Collective.Reduce, self._input(sendbuf, recvbuf), into, op, root)

    @call("MPI_Allreduce")
    async def Allreduce(self, sendbuf: Spec, recvbuf: Spec, op: Op = SUM) -> None:
        """Reduce all ranks' arrays element by element at all ranks (`MPI_Allreduce`)."""
        into = view(recvbuf, True)
        await self._reduce(Collective.Allreduce, self._input(sendbuf, recvbuf), into if self.rank == 0 else None, op, 0)
        await self._bcast(Collective.Allreduce, into, 0)

    @call("MPI_Reduce_scatter_block")
    async def Reduce_scatter_block(self, sendbuf: Spec, recvbuf: Spec, op: Op = SUM) -> None:
        """Reduce, and scatter the result in equal parts (`MPI_Reduce_scatter_block`)."""
        data = self._input(sendbuf, recvbuf)
        equal_parts(sendbuf, self.size)
        await self._reduce_scatter(data, [data.count // self.size] * self.size, recvbuf, op)

    @call("MPI_Reduce_scatter")
    async def Reduce_scatter(self, sendbuf: Spec, recvbuf: Spec, recvcounts: list[int], op: Op = SUM) -> None:
        """Reduce, and scatter the result in parts of `recvcounts` elements by rank (`MPI_Reduce_scatter`)."""
        await self._reduce_scatter(self._input(sendbuf, recvbuf), recvcounts, recvbuf, op)

    async def _reduce_scatter(self, data: View, counts: list[int], recvbuf: Spec, op: Op) -> None:
        whole = view(np.zeros(data.size, np.uint8))
        result = View(whole.data, data.count, data.datatype)
        await self._reduce(Collective.Reduce_scatter, data, result if self.rank == 0 else None, op, 0)
        out = parts_of([whole.data, counts, data.datatype], self.size) if self.rank == 0 else []
        await self._scatter(Collective.Reduce_scatter, out, recvbuf, 0)

    @call("MPI_Scan")
    async def Scan(self, sendbuf: Spec, recvbuf: Spec, op: Op = SUM) -> None:
        """Reduce the arrays of all ranks up to this one (`MPI_Scan`)."""
        data, into = self._input(sendbuf, recvbuf), view(recvbuf, True)
        before = await self._before(Collective.Scan, data, op)
        own = _array(data, op)
        into.fill((own if before is None else await self._fold(op, before, own)).tobytes())

    @call("MPI_Exscan")
    async def Exscan(self, sendbuf: Spec, recvbuf: Spec, op: Op = SUM) -> None:
        """Reduce the arrays of all ranks before this one; rank 0's buffer is unchanged (`MPI_Exscan`)."""
        data, into = self._input(sendbuf, recvbuf), view(recvbuf, True)
        before = await self._before(Collective.Exscan, data, op)
        if before is not None:
            into.fill(before.tobytes())

    @call("MPI_Reduce_local")
    async def Reduce_local(self, inbuf: Spec, inoutbuf: Spec, op: Op = SUM) -> None:
        """Reduce two arrays of this rank into the second (`MPI_Reduce_local`)."""
        data, into = view(inbuf), view(inoutbuf, True)
        into.fill((await self._fold(op, _array(data, op), _array(into, op))).tobytes())

    async def _before(self, collective: Collective, data: View, op: Op) -> Any:
        """Return the reduction of the ranks before this one (None at the first), and pass it on with the own data."""
        before, own = None, _array(data, op)
        if self.rank:
            before = np.zeros_like(own)
            await self._over(collective, await self._take(collective, _bytes(before), self.rank - 1))
        if self.rank + 1 < self.size:
            out = own if before is None else await self._fold(op, before, own)
            await self._over(collective, await self._give(collective, _bytes(out), self.rank + 1))
        return before

    def _input(self, sendbuf: Spec, recvbuf: Spec) -> View:
        return view(recvbuf if sendbuf is InPlace.IN_PLACE else sendbuf)

    async def _reduce(self, collective: Collective, data: View, into: View | None, op: Op, root: int) -> None:
        """Reduce into `into`, which is None except at the root."""
        if into is not None and into.size < data.size:
            cause = f"{data.size} bytes for a buffer of {into.size}"
            raise Misuse(ErrorClass.BUFFER, cause, "give both the same count")
        result = await self._folded(collective, data, op, root)
        if into is not None:
            into.fill(result.tobytes())

    async def _folded(self, collective: Collective, data: View, op: Op, root: int = 0) -> Any:
        """Return the result at the root, and an undefined array elsewhere."""
        own = _array(data, op)
        return await (self._tree(collective, own, op, root) if op.commute else self._row(collective, own, op, root))

    async def _tree(self, collective: Collective, own: Any, op: Op, root: int) -> Any:
        """Fold the arrays of the ranks below in a binomial tree and send the result up."""
        place, step = (self.rank - root) % self.size, 1
        while step < self.size and not place & step:
            if place + step < self.size:
                other = np.zeros_like(own)
                taken = await self._take(collective, _bytes(other), (self.rank + step) % self.size)
                await self._over(collective, taken)
                own = await self._fold(op, own, other)
            step *= 2
        if place:
            await self._over(collective, await self._give(collective, _bytes(own), (self.rank - step) % self.size))
        return own

    async def _row(self, collective: Collective, own: Any, op: Op, root: int) -> Any:
        """Fold all arrays in the order of ranks at the root."""
        if self.rank != root:
            await self._over(collective, await self._give(collective, _bytes(own), root))
            return own
        rows = np.zeros((self.size, *own.shape), own.dtype)
        rows[root] = own
        for rank in (rank for rank in range(self.size) if rank != root):
            await self._over(collective, await self._take(collective, _bytes(rows[rank]), rank))
        result = rows[0].copy()
        for row in rows[1:]:
            result = await self._fold(op, result, row)
        return result

    async def _fold(self, op: Op, left: Any, right: Any) -> Any:
        await self.engine.host.spend("mpi_fold", max(left.size, 1))
        return np.asarray(op.fold(left, right), left.dtype)


def _bytes(array: Any) -> View:
    """Return an array of any elements as a message."""
    return view(array.reshape(-1).view(np.uint8))


def _array(data: View, op: Op) -> Any:
    """Return a copy of the elements. Raises Misuse for types that cannot be reduced."""
    if not isinstance(op, Op):
        raise Misuse(
            ErrorClass.OP, f"{op!r} is not an operator", "give an operator such as SUM, or a result of Op.Create"
        )
    if data.datatype.base is None:
        raise Misuse(ErrorClass.TYPE, f"{data.datatype.name} has elements of several types", "reduce one type")
    return np.frombuffer(bytes(data.packed()), data.datatype.base).copy()
