"""The steps of collectives: messages in a context of their own, each with the number of its collective as tag.

Ranks call the collectives of a communicator in one order, so the next message of a rank belongs to the collective that
this rank is in, or that rank is in another one. Then both are named.
"""

from __future__ import annotations

from enum import IntEnum

from firmware.host.mpi.buffers import View
from firmware.host.mpi.datatypes import whole
from firmware.host.mpi.envelope import Mode
from firmware.host.mpi.errors import ErrorClass, Misuse
from firmware.host.mpi.matching import ANY, Key
from firmware.host.mpi.operation import Operation
from firmware.host.mpi.packing import Packing


class Collective(IntEnum):
    """The collectives; the names are those of the standard without `MPI_`."""

    Barrier = 1
    Bcast = 2
    Gather = 3
    Scatter = 4
    Allgather = 5
    Alltoall = 6
    Reduce = 7
    Allreduce = 8
    Scan = 9
    Exscan = 10
    Reduce_scatter = 11
    Gatherv = 12
    Scatterv = 13
    Allgatherv = 14
    Alltoallv = 15
    Comm_dup = 16
    Comm_split = 17
    Comm_create = 18
    Comm_free = 19
    Finalize = 20
    Alltoallw = 21


class Steps(Packing):
    """Messages from rank to rank within a collective."""

    async def _give(self, collective: Collective, data: View, dest: int) -> Operation:
        """Begin to send to a rank."""
        await self.engine.host.spend("mpi_step")
        key = Key(self.context + 1, self.engine.rank, collective)
        operation = Operation(f"MPI_{collective.name}", self.ranks, key, data, self.ranks[dest])
        await self.engine.send(operation, Mode.STANDARD)
        return operation

    async def _take(self, collective: Collective, data: View, source: int) -> Operation:
        """Begin to receive from a rank."""
        await self.engine.host.spend("mpi_step")
        key = Key(self.context + 1, self.ranks[source], ANY)
        operation = Operation(f"MPI_{collective.name}", self.ranks, key, data, self.ranks[source])
        await self.engine.receive(operation)
        return operation

    async def _over(self, collective: Collective, *operations: Operation) -> None:
        """Wait for steps. Raises Misuse when another rank is in another collective, or gives other than is due."""
        await self.engine.until(lambda: all(one.done for one in operations), operations)
        for one in operations:
            if one.key.tag != ANY:
                continue
            status = one.status
            if status.tag != collective:
                cause = f"rank {status.source} of {self.name} is in MPI_{Collective(status.tag).name}"
                raise Misuse(ErrorClass.OTHER, cause, "call the collectives of a communicator in one order")
            if status.size != one.view.size:
                cause = f"rank {status.source} gives {status.size} bytes, and {one.view.size} are due"
                error = ErrorClass.TRUNCATE if status.size > one.view.size else ErrorClass.COUNT
                raise Misuse(error, cause, "give the same counts everywhere")

    async def _pass(self, collective: Collective, out: View, dest: int, into: View, source: int) -> None:
        """Send to one rank and receive from one."""
        receive = await self._take(collective, into, source)
        await self._over(collective, await self._give(collective, out, dest), receive)

    def _root(self, root: int) -> int:
        """A root, checked. Raises Misuse."""
        number = whole("root", root, ErrorClass.ROOT)
        if number >= self.size:
            cause = f"root is {number}, and {self.name} has {self.size} ranks"
            raise Misuse(ErrorClass.ROOT, cause, f"give 0..{self.size - 1}")
        return number
