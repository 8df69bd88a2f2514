"""The steps of collectives: messages in a context of their own, each with the number of its collective as tag.

Ranks call the collectives of a communicator in one order, so the next message of a rank belongs to the collective that
this rank is in, or that rank is in another one. Then both are named. Steps of collectives that are in progress beside
others have a lane: another context and a tag, by which both ends know them.
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
    Comm_create_group = 22
    Intercomm_create = 23
    Intercomm_merge = 24
    Neighbor = 25


class Lane(NamedTuple):
    """Messages of one collective apart from all others of its communicator."""

    offset: int
    """Added to the communicator's context."""
    tag: int

    @staticmethod
    def non_blocking(number: int) -> Lane:
        """Return the lane of a communicator's non-blocking collective, by its number."""
        return Lane(2, number & TAG_UB)

    @staticmethod
    def of_creation(tag: int) -> Lane:
        """Return the lane of a call that makes a communicator and has a tag."""
        return Lane(3, tag)


class Steps(Packing):
    """Messages from rank to rank within a collective."""

    lane: Lane | None = None
    """Where the messages are; None: where those of blocking collectives are."""
    pauses = False
    """True for steps that pause instead of waiting in the engine."""
    _turns = 0
    """Number of non-blocking collectives that have begun."""

    async def _give(self, collective: Collective, data: View, dest: int) -> Operation:
        """Begin to send to a rank."""
        await self.engine.host.spend("mpi_step")
        offset, tag = self.lane or (1, collective)
        key = Key(self.context + offset, self.engine.rank, tag)
        operation = Operation(f"MPI_{collective.name}", self.peers, key, data, self.peers[dest])
        await self.engine.send(operation, Mode.STANDARD)
        return operation

    async def _take(self, collective: Collective, data: View, source: int) -> Operation:
        """Begin to receive from a rank."""
        await self.engine.host.spend("mpi_step")
        offset, tag = self.lane or (1, ANY)
        key = Key(self.context + offset, self.peers[source], tag)
        operation = Operation(f"MPI_{collective.name}", self.peers, key, data, self.peers[source])
        await self.engine.receive(operation)
        return operation

    async def _over(self, collective: Collective, *operations: Operation) -> None:
        """Wait for steps. Raises Misuse when another rank is in another collective, or gives other than is due."""
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
