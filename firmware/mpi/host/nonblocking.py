"""Non-blocking collectives: each starts the steps of its blocking form and returns a request.

Each has a number in its communicator, which is the tag of its messages in a separate context. So several can be in
progress beside a blocking one. All ranks must start them in the same order.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from copy import copy
from typing import Any, TypeVar

from firmware.mpi.host.buffers import Spec, view
from firmware.mpi.host.matching import ANY, Key
from firmware.mpi.host.operation import Operation
from firmware.mpi.host.operators import SUM, Op
from firmware.mpi.host.requests import Request
from firmware.mpi.host.steps import Lane, Steps

StepsT = TypeVar("StepsT", bound="NonBlocking")


class NonBlocking(Steps):
    """Non-blocking collectives by mpi4py's names."""

    async def Ibarrier(self) -> Request:
        """Start a barrier."""
        return await self._begin("Barrier")

    async def Ibcast(self, buf: Spec, root: int = 0) -> Request:
        """Start to send the root's data to all ranks."""
        return await self._begin("Bcast", buf, root)

    async def Igather(self, sendbuf: Spec, recvbuf: Spec, root: int = 0) -> Request:
        """Start to gather equal parts at the root."""
        return await self._begin("Gather", sendbuf, recvbuf, root)

    async def Igatherv(self, sendbuf: Spec, recvbuf: Spec, root: int = 0) -> Request:
        """Start to gather parts of any length at the root."""
        return await self._begin("Gatherv", sendbuf, recvbuf, root)

    async def Iscatter(self, sendbuf: Spec, recvbuf: Spec, root: int = 0) -> Request:
        """Start to scatter equal parts of the root's data."""
        return await self._begin("Scatter", sendbuf, recvbuf, root)

    async def Iscatterv(self, sendbuf: Spec, recvbuf: Spec, root: int = 0) -> Request:
        """Start to scatter parts of any length of the root's data."""
        return await self._begin("Scatterv", sendbuf, recvbuf, root)

    async def Iallgather(self, sendbuf: Spec, recvbuf: Spec) -> Request:
        """Start to gather equal parts at all ranks."""
        return await self._begin("Allgather", sendbuf, recvbuf)

    async def Iallgatherv(self, sendbuf: Spec, recvbuf: Spec) -> Request:
        """Start to gather parts of any length at all ranks."""
        return await self._begin("Allgatherv", sendbuf, recvbuf)

    async def Ialltoall(self, sendbuf: Spec, recvbuf: Spec) -> Request:
        """Start to exchange equal parts between all ranks."""
        return await self._begin("Alltoall", sendbuf, recvbuf)

    async def Ialltoallv(self, sendbuf: Spec, recvbuf: Spec) -> Request:
        """Start to exchange parts of any length between all ranks."""
        return await self._begin("Alltoallv", sendbuf, recvbuf)

    async def Ialltoallw(self, sendbufs: Sequence[Spec], recvbufs: Sequence[Spec]) -> Request:
        """Start to exchange parts of any length and datatype between all ranks."""
        return await self._begin("Alltoallw", sendbufs, recvbufs)

    async def Ireduce(self, sendbuf: Spec, recvbuf: Spec, op: Op = SUM, root: int = 0) -> Request:
        """Start to reduce the arrays of all ranks at the root."""
        return await self._begin("Reduce", sendbuf, recvbuf, op, root)

    async def Iallreduce(self, sendbuf: Spec, recvbuf: Spec, op: Op = SUM) -> Request:
        """Start to reduce the arrays of all ranks at all ranks."""
        return await self._begin("Allreduce", sendbuf, recvbuf, op)

    async def Ireduce_scatter(self, sendbuf: Spec, recvbuf: Spec, recvcounts: list[int], op: Op = SUM) -> Request:
        """Start to reduce, and to scatter the result in parts of `recvcounts` elements."""
        return await self._begin("Reduce_scatter", sendbuf, recvbuf, recvcounts, op)

    async def Ireduce_scatter_block(self, sendbuf: Spec, recvbuf: Spec, op: Op = SUM) -> Request:
        """Start to reduce, and to scatter the result in equal parts."""
        return await self._begin("Reduce_scatter_block", sendbuf, recvbuf, op)

    async def Iscan(self, sendbuf: Spec, recvbuf: Spec, op: Op = SUM) -> Request:
        """Start an inclusive scan."""
        return await self._begin("Scan", sendbuf, recvbuf, op)

    async def Iexscan(self, sendbuf: Spec, recvbuf: Spec, op: Op = SUM) -> Request:
        """Start an exclusive scan."""
        return await self._begin("Exscan", sendbuf, recvbuf, op)

    async def Ineighbor_alltoallw(
        self, sends: Sequence[tuple[int, Spec]], receives: Sequence[tuple[int, Spec]]
    ) -> Request:
        """Start to exchange data with some ranks."""
        return await self._begin("Neighbor_alltoallw", sends, receives)

    async def _begin(self, name: str, *arguments: Any) -> Request:
        """Start the non-blocking form of a collective."""
        with self.calling(f"MPI_I{name.lower()}"):
            steps = self._numbered()
            return await self._scheduled(steps, getattr(type(self), name).__wrapped__(steps, *arguments))

    def Persistent(self, name: str, arguments: Callable[[], Sequence[Any]]) -> Request:
        """Return a persistent collective for `Start` (`MPI_Bcast_init` and others).

        Args:
            name: Name of the blocking form, such as `Bcast`.
            arguments: Called at each start; returns the arguments of the blocking form.
        """
        steps = self._numbered()

        async def begin() -> Operation:
            return await self._started(steps, getattr(type(self), name).__wrapped__(steps, *arguments()))

        return Request(self.engine, begin=begin)

    async def _scheduled(self, steps: NonBlocking, coroutine: Coroutine[Any, Any, None]) -> Request:
        """Start a coroutine of steps. Raises Misuse for invalid arguments of the call."""
        return Request(self.engine, await self._started(steps, coroutine))

    async def _started(self, steps: NonBlocking, coroutine: Coroutine[Any, Any, None]) -> Operation:
        assert steps.lane is not None
        key = Key(self.context + steps.lane.offset, ANY, steps.lane.tag)
        operation = Operation(self.engine.call, self.peers, key, view(None), ANY)
        await self.engine.begin_schedule(operation, coroutine)
        if operation.error:
            raise operation.error
        return operation

    def _numbered(self: StepsT) -> StepsT:
        """Return this communicator for the steps of its next non-blocking collective."""
        steps = copy(self)
        steps.lane, steps.pauses = Lane.non_blocking(self._turns), True
        self._turns += 1
        return steps
