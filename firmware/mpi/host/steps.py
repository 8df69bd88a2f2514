"""Steps of collectives: messages in a separate context, with the number of the collective as tag.

Ranks call the collectives of a communicator in one order. So the next message of a rank belongs to this rank's
collective, or the ranks are in different collectives, which are then both reported. Collectives that are in progress
beside others use a lane: another context and tag.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from firmware.mpi.host.buffers import View
from firmware.mpi.host.comm import TAG_UB
from firmware.mpi.host.datatypes import whole
from firmware.mpi.host.envelope import Mode
from firmware.mpi.host.errors import ErrorClass, Misuse
from firmware.mpi.host.matching import ANY, Key
from firmware.mpi.host.operation import Operation
from firmware.mpi.host.packing import Packing
from firmware.mpi.host.schedule import Pause
from firmware.mpi.host.status import ANY_SOURCE


class Collective(IntEnum):
    """Collectives by their names in the standard without `MPI_`."""

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
    Comm_create_group = 22
    Intercomm_create = 23
    Intercomm_merge = 24
    Neighbor = 25


class Lane(NamedTuple):
    """Context offset and tag of one collective's messages, separate from all others of its communicator."""

    offset: int
    """Offset added to the communicator's context."""
    tag: int

    @staticmethod
    def non_blocking(number: int) -> Lane:
        """Return the lane of a communicator's non-blocking collective, by its number."""
        return Lane(2, number & TAG_UB)

    @staticmethod
    def of_creation(tag: int) -> Lane:
        """Return the lane of a call that creates a communicator with a tag."""
        return Lane(3, tag)


class Steps(Packing):
    """Messages from rank to rank within a collective."""

    lane: Lane | None = None
    """Lane of the messages; None for blocking collectives."""
    pauses = False
    """True for steps that pause instead of waiting in the engine."""
    _turns = 0
    """Number of non-blocking collectives started."""

    async def _give(self, collective: Collective, data: View, dest: int) -> Operation:
        """Start a send to a rank."""
        await self.engine.host.spend("mpi_step")
        offset, tag = self.lane or (1, collective)
        key = Key(self.context + offset, self.engine.rank, tag)
        operation = Operation(f"MPI_{collective.name}", self.peers, key, data, self.peers[dest])
        await self.engine.send(operation, Mode.STANDARD)
        return operation

    async def _take(self, collective: Collective, data: View, source: int) -> Operation:
        """Start a receive from a rank."""
        await self.engine.host.spend("mpi_step")
        offset, tag = self.lane or (1, ANY)
        key = Key(self.context + offset, self.peers[source], tag)
        operation = Operation(f"MPI_{collective.name}", self.peers, key, data, self.peers[source])
        await self.engine.receive(operation)
        return operation

    async def _over(self, collective: Collective, *operations: Operation) -> None:
        """Wait for steps. Raises Misuse if another rank is in a different collective, or sends a different size."""
        if self.pauses:
            await Pause(operations)
        else:
            await self.engine.until(lambda: all(one.done for one in operations), operations)
        for one in operations:
            status = one.status
            if status.source == ANY_SOURCE:
                continue  # a send
            if self.lane is None and status.tag != collective:
                cause = f"rank {status.source} of {self.name} is in MPI_{Collective(status.tag).name}"
                raise Misuse(ErrorClass.OTHER, cause, "call the collectives of a communicator in one order")
            if status.size != one.view.size:
                cause = f"rank {status.source} sends {status.size} bytes, but {one.view.size} are expected"
                error = ErrorClass.TRUNCATE if status.size > one.view.size else ErrorClass.COUNT
                raise Misuse(error, cause, "give the same counts at all ranks")

    async def _pass(self, collective: Collective, out: View, dest: int, into: View, source: int) -> None:
        """Send to one rank and receive from one."""
        receive = await self._take(collective, into, source)
        await self._over(collective, await self._give(collective, out, dest), receive)

    def _root(self, root: int) -> int:
        """Return a checked root. Raises Misuse."""
        number = whole("root", root, ErrorClass.ROOT)
        if number >= self.size:
            cause = f"root is {number}, and {self.name} has {self.size} ranks"
            raise Misuse(ErrorClass.ROOT, cause, f"give 0..{self.size - 1}")
        return number
