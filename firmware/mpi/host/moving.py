"""Collectives that move data, made of messages from rank to rank (paper 001, 6.1).

| collective | algorithm |
|---|---|
| Barrier | dissemination: log2(size) steps |
| Bcast | a binomial tree |
| Gather(v), Scatter(v) | the root and each rank in turn |
| Allgather(v) | a ring: size - 1 steps |
| Alltoall(v) | all receives are started, then all sends, each rank beginning with its right neighbour |
"""

from __future__ import annotations

from collections.abc import Sequence

from firmware.mpi.host.buffers import Spec, View, view
from firmware.mpi.host.calls import call
from firmware.mpi.host.errors import ErrorClass, Misuse
from firmware.mpi.host.parts import InPlace, equal_parts, parts_of
from firmware.mpi.host.steps import Collective, Steps


class Moving(Steps):
    """Collectives Barrier, Bcast, Gather(v), Scatter(v), Allgather(v), Alltoall(v), Alltoallw."""

    @call("MPI_Barrier")
    async def Barrier(self) -> None:
        """Wait until all ranks have called it (`MPI_Barrier`)."""
        await self._barrier(Collective.Barrier)

    async def _barrier(self, collective: Collective) -> None:
        step, nothing = 1, view(None)
        while step < self.size:
            ahead, behind = (self.rank + step) % self.size, (self.rank - step) % self.size
            await self._pass(collective, nothing, ahead, nothing, behind)
            step *= 2

    @call("MPI_Bcast")
    async def Bcast(self, buf: Spec, root: int = 0) -> None:
        """Send the root's data to all ranks (`MPI_Bcast`)."""
        root = self._root(root)
        await self._bcast(Collective.Bcast, view(buf, writable=self.rank != root), root)

    async def _bcast(self, collective: Collective, data: View, root: int) -> None:
        place = (self.rank - root) % self.size
        step = 1
        while step < self.size and not place & step:
            step *= 2
        failure: Misuse | None = None
        if place:
            try:
                await self._over(collective, await self._take(collective, data, (self.rank - step) % self.size))
            except Misuse as wrong:  # the ranks below wait as well: an empty message makes them fail, too
                failure, data = wrong, view(None)
        while step > 1:
            step //= 2
            if place + step < self.size:
                await self._over(collective, await self._give(collective, data, (self.rank + step) % self.size))
        if failure:
            raise failure

    @call("MPI_Gather")
    async def Gather(self, sendbuf: Spec, recvbuf: Spec, root: int = 0) -> None:
        """Collect equal parts of all ranks at the root, in the order of ranks (`MPI_Gather`)."""
        into = equal_parts(recvbuf, self.size, True) if self.rank == self._root(root) else []
        await self._gather(Collective.Gather, sendbuf, into, root)

    @call("MPI_Gatherv")
    async def Gatherv(self, sendbuf: Spec, recvbuf: Spec, root: int = 0) -> None:
        """Collect parts of any length; the root's buffer is [buffer, counts, displacements, datatype], in elements."""
        into = parts_of(recvbuf, self.size, True) if self.rank == self._root(root) else []
        await self._gather(Collective.Gatherv, sendbuf, into, root)

    async def _gather(self, collective: Collective, sendbuf: Spec, into: Sequence[View], root: int) -> None:
        if self.rank != root:
            await self._over(collective, await self._give(collective, view(sendbuf), root))
            return
        takes = [await self._take(collective, part, rank) for rank, part in enumerate(into) if rank != root]
        await self._own(collective, sendbuf, into[root])
        await self._over(collective, *takes)

    async def _own(self, collective: Collective, sendbuf: Spec, into: View) -> None:
        """Copy the own part, which no message carries."""
        if sendbuf is InPlace.IN_PLACE:
            return
        await self._copy(collective, view(sendbuf), into)

    async def _copy(self, collective: Collective, out: View, into: View) -> None:
        receive = await self._take(collective, into, self.rank)
        await self._over(collective, await self._give(collective, out, self.rank), receive)

    @call("MPI_Scatter")
    async def Scatter(self, sendbuf: Spec, recvbuf: Spec, root: int = 0) -> None:
        """Distribute equal parts of the root's data to all ranks, in the order of ranks (`MPI_Scatter`)."""
        out = equal_parts(sendbuf, self.size) if self.rank == self._root(root) else []
        await self._scatter(Collective.Scatter, out, recvbuf, root)

    @call("MPI_Scatterv")
    async def Scatterv(self, sendbuf: Spec, recvbuf: Spec, root: int = 0) -> None:
        """Distribute parts of any length; the root's buffer is [buffer, counts, displacements, datatype]."""
        out = parts_of(sendbuf, self.size) if self.rank == self._root(root) else []
        await self._scatter(Collective.Scatterv, out, recvbuf, root)

    async def _scatter(self, collective: Collective, out: Sequence[View], recvbuf: Spec, root: int) -> None:
        if self.rank != root:
            await self._over(collective, await self._take(collective, view(recvbuf, True), root))
            return
        gives = [await self._give(collective, part, rank) for rank, part in enumerate(out) if rank != root]
        if recvbuf is not InPlace.IN_PLACE:
            await self._copy(collective, out[root], view(recvbuf, True))
        await self._over(collective, *gives)

    @call("MPI_Allgather")
    async def Allgather(self, sendbuf: Spec, recvbuf: Spec) -> None:
        """Collect equal parts of all ranks at all ranks (`MPI_Allgather`)."""
        await self._allgather(Collective.Allgather, sendbuf, equal_parts(recvbuf, self.size, True))

    @call("MPI_Allgatherv")
    async def Allgatherv(self, sendbuf: Spec, recvbuf: Spec) -> None:
        """Collect parts of any length at all ranks; `recvbuf` is [buffer, counts, displacements, datatype], in
        elements.
        """
        await self._allgather(Collective.Allgatherv, sendbuf, parts_of(recvbuf, self.size, True))

    async def _allgather(self, collective: Collective, sendbuf: Spec, into: Sequence[View]) -> None:
        await self._own(collective, sendbuf, into[self.rank])
        right, left = (self.rank + 1) % self.size, (self.rank - 1) % self.size
        for step in range(self.size - 1):
            out = into[(self.rank - step) % self.size]
            await self._pass(collective, out, right, into[(self.rank - step - 1) % self.size], left)

    @call("MPI_Alltoall")
    async def Alltoall(self, sendbuf: Spec, recvbuf: Spec) -> None:
        """Send an equal part of each rank to each rank (`MPI_Alltoall`)."""
        self._apart(sendbuf)
        out, into = equal_parts(sendbuf, self.size), equal_parts(recvbuf, self.size, True)
        await self._alltoall(Collective.Alltoall, out, into)

    @call("MPI_Alltoallv")
    async def Alltoallv(self, sendbuf: Spec, recvbuf: Spec) -> None:
        """Send parts of any length; both buffers are [buffer, counts, displacements, datatype], in elements."""
        self._apart(sendbuf)
        out, into = parts_of(sendbuf, self.size), parts_of(recvbuf, self.size, True)
        await self._alltoall(Collective.Alltoallv, out, into)

    @call("MPI_Alltoallw")
    async def Alltoallw(self, sendbufs: Sequence[Spec], recvbufs: Sequence[Spec]) -> None:
        """Send parts of any length and datatype: one buffer for each rank (`MPI_Alltoallw`)."""
        if len(sendbufs) != self.size or len(recvbufs) != self.size:
            cause = f"{len(sendbufs)} and {len(recvbufs)} buffers for {self.size} ranks"
            raise Misuse(ErrorClass.COUNT, cause, "give one of each for every rank")
        out, into = [view(one) for one in sendbufs], [view(one, True) for one in recvbufs]
        await self._alltoall(Collective.Alltoallw, out, into)

    @call("MPI_Neighbor_alltoallw")
    async def Neighbor_alltoallw(self, sends: Sequence[tuple[int, Spec]], receives: Sequence[tuple[int, Spec]]) -> None:
        """Exchange data with some ranks. Both lists hold (rank or PROC_NULL, buffer), in the order of matching."""
        collective = Collective.Neighbor
        begun = [await self._take(collective, view(into, True), at) for at, into in receives if at >= 0]
        begun += [await self._give(collective, view(out), to) for to, out in sends if to >= 0]
        await self._over(collective, *begun)

    def _apart(self, sendbuf: Spec) -> None:
        if sendbuf is InPlace.IN_PLACE:
            raise Misuse(ErrorClass.BUFFER, "MPI_IN_PLACE is not supported", "give two buffers")

    async def _alltoall(self, collective: Collective, out: Sequence[View], into: Sequence[View]) -> None:
        begun = []
        for at in range(self.size):
            rank = (self.rank - at) % self.size
            begun.append(await self._take(collective, into[rank], rank))
        for at in range(self.size):
            rank = (self.rank + at) % self.size
            begun.append(await self._give(collective, out[rank], rank))
        await self._over(collective, *begun)
