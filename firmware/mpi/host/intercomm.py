"""Inter-communicators: two groups of ranks that exchange messages with each other.

Collectives move data from one group to the other. Those that compute, or that need one result in a group, use a local
communicator of the group. The first ranks of both groups exchange their data.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any

import numpy as np

from firmware.mpi.host.buffers import Spec, View, view
from firmware.mpi.host.calls import call
from firmware.mpi.host.comm import PointToPoint
from firmware.mpi.host.communicator import Comm
from firmware.mpi.host.datatypes import whole
from firmware.mpi.host.engine import Engine
from firmware.mpi.host.errors import ErrorClass, Misuse
from firmware.mpi.host.groups import CONGRUENT, IDENT, UNEQUAL, Group
from firmware.mpi.host.nonblocking import NonBlocking, StepsT
from firmware.mpi.host.operators import SUM, Op
from firmware.mpi.host.parts import equal_parts, parts_of
from firmware.mpi.host.requests import Request
from firmware.mpi.host.status import PROC_NULL, ROOT, UNDEFINED
from firmware.mpi.host.steps import Collective, Lane, Steps

LOCAL = 4
"""Offset of the local group's contexts from those of its inter-communicator."""


class Intercomm(NonBlocking):
    """Communicator of two groups. Ranks of destinations, sources and roots are those of the remote group."""

    def __init__(self, engine: Engine, ranks: Sequence[int], remote: Sequence[int], context: int, name: str) -> None:
        """Create the inter-communicator; `ranks` (local) and `remote` are ranks in MPI_COMM_WORLD."""
        super().__init__(engine, ranks, context, name)
        self.peers = tuple(remote)
        self.local = Comm(engine, ranks, context + LOCAL, f"the local group of {name}")

    @property
    def first(self) -> bool:
        """True in the group that decides where both are equal."""
        return self.ranks[0] < self.peers[0]

    # ---- groups and communicators

    def Get_group(self) -> Group:
        """Return the local group."""
        return Group(self.engine, self.ranks)

    def Get_remote_group(self) -> Group:
        """Return the remote group."""
        return Group(self.engine, self.peers)

    def Get_remote_size(self) -> int:
        """Return the number of ranks of the remote group."""
        return self.remote_size

    def Compare(self, other: PointToPoint) -> int:
        """Return IDENT (same communicator), CONGRUENT (same groups in the same order), SIMILAR or UNEQUAL."""
        if self is other:
            return IDENT
        if not isinstance(other, Intercomm):
            return UNEQUAL
        local = self.Get_group().Compare(other.Get_group())
        remote = self.Get_remote_group().Compare(other.Get_remote_group())
        if UNEQUAL in (local, remote):
            return UNEQUAL
        return max(local, remote) or CONGRUENT

    @call("MPI_Comm_dup")
    async def Dup(self) -> Intercomm:
        """Return an inter-communicator of the same groups with its own contexts."""
        return self._made(await self._agree(Collective.Comm_dup))

    @call("MPI_Comm_idup")
    async def Idup(self) -> tuple[Intercomm, Request]:
        """Start `Dup`. The inter-communicator may be used when the request is complete."""
        made, steps = self._made(0), self._numbered()

        async def agree() -> None:
            made.context = await steps._agree(Collective.Comm_dup)
            made.local.context = made.context + LOCAL

        return made, await self._scheduled(steps, agree())

    def _made(self, context: int) -> Intercomm:
        return Intercomm(self.engine, self.ranks, self.peers, context, f"a copy of {self.name}")

    @call("MPI_Comm_split")
    async def Split(self, color: int = 0, key: int = 0) -> Intercomm | None:
        """Return one inter-communicator a colour; None for UNDEFINED, or if the other group lacks the colour."""
        color = whole("color", color, ErrorClass.ARG, UNDEFINED)
        if UNDEFINED < color < 0:
            raise Misuse(ErrorClass.ARG, f"color is {color}", "give 0 or more, or UNDEFINED")
        table = np.zeros((self.size, 2), "<i8")
        own = np.array([color, whole("key", key, ErrorClass.ARG, -(1 << 62))], "<i8")
        await self.local._allgather(Collective.Comm_split, own, equal_parts(table, self.size, True))
        theirs = (await self._swapped(Collective.Comm_split, table.reshape(-1))).reshape(-1, 2)
        context = await self._agree(Collective.Comm_split)
        ranks, remote = _of_colour(self.ranks, table, color), _of_colour(self.peers, theirs, color)
        if color == UNDEFINED or not remote:
            return None
        return Intercomm(self.engine, ranks, remote, context, f"colour {color} of {self.name}")

    @call("MPI_Comm_create")
    async def Create(self, group: Group) -> Intercomm | None:
        """Return an inter-communicator of a group of each side; None for other ranks, and if a side has none."""
        if not set(group.ranks) <= set(self.ranks):
            raise Misuse(ErrorClass.GROUP, f"the group has ranks that {self.name} lacks", "choose among its ranks")
        theirs = await self._swapped(Collective.Comm_create, np.array(group.ranks, "<i8"))
        context = await self._agree(Collective.Comm_create)
        if self.engine.rank not in group.ranks or not len(theirs):
            return None
        return Intercomm(self.engine, group.ranks, [int(one) for one in theirs], context, f"a part of {self.name}")

    @call("MPI_Intercomm_merge")
    async def Merge(self, high: bool = False) -> Comm:
        """Return an intra-communicator of both groups; the group with `high` True comes last."""
        collective = Collective.Intercomm_merge
        theirs = bool((await self._swapped(collective, np.array([high], "<i8")))[0])
        context = await self._agree(collective)
        before = self.first if theirs == bool(high) else theirs
        ranks = (*self.ranks, *self.peers) if before else (*self.peers, *self.ranks)
        return Comm(self.engine, ranks, context, f"both groups of {self.name}")

    @call("MPI_Comm_free")
    async def Free(self) -> None:
        """Release the inter-communicator without waiting for other ranks."""
        self.freed = True

    async def _agree(self, collective: Collective) -> int:
        """Return the contexts of a new communicator of both groups."""
        own = self.engine.new_context() if self.rank == 0 else 0
        other = int((await self._swapped(collective, np.array([own], "<i8")))[0])
        return await self.local._chosen(collective, own if self.first else other)

    async def _swapped(self, collective: Collective, own: Any) -> Any:
        """Exchange numbers between the first ranks of both groups and return the other group's."""
        length, other = np.array([len(own)], "<i8"), np.zeros(1, "<i8")
        if self.rank == 0:
            await self._pass(collective, view(length), 0, view(other, True), 0)
        await self.local._bcast(collective, view(other, True), 0)
        came = np.zeros(int(other[0]), "<i8")
        if self.rank == 0:
            await self._pass(collective, view(own), 0, view(came, True), 0)
        await self.local._bcast(collective, view(came, True), 0)
        return came

    def _numbered(self: StepsT) -> StepsT:
        steps = super()._numbered()
        assert isinstance(steps, Intercomm)
        steps.local = copy(steps.local)
        steps.local.lane, steps.local.pauses = steps.lane, True
        return steps

    # ---- collectives

    def _remote_root(self, root: int) -> int:
        """Return a root of the remote group. Raises Misuse."""
        number = whole("root", root, ErrorClass.ROOT)
        if number >= self.remote_size:
            cause = f"root is {number}, and the remote group of {self.name} has {self.remote_size} ranks"
            raise Misuse(ErrorClass.ROOT, cause, f"give 0..{self.remote_size - 1}, ROOT or PROC_NULL")
        return number

    @call("MPI_Barrier")
    async def Barrier(self) -> None:
        """Wait until all ranks of both groups have called it."""
        collective, nothing = Collective.Barrier, view(None)
        await self.local._barrier(collective)
        if self.rank == 0:
            await self._pass(collective, nothing, 0, nothing, 0)
        await self.local._barrier(collective)

    @call("MPI_Bcast")
    async def Bcast(self, buf: Spec, root: int = 0) -> None:
        """Send the root's data to all ranks of the other group."""
        collective = Collective.Bcast
        if root == ROOT:
            await self._over(collective, await self._give(collective, view(buf), 0))
        elif root != PROC_NULL:
            data, root = view(buf, True), self._remote_root(root)
            if self.rank == 0:
                await self._over(collective, await self._take(collective, data, root))
            await self.local._bcast(collective, data, 0)

    @call("MPI_Gather")
    async def Gather(self, sendbuf: Spec, recvbuf: Spec, root: int = 0) -> None:
        """Send equal parts of one group to the root in the other."""
        into = equal_parts(recvbuf, self.remote_size, True) if root == ROOT else []
        await self._to_root(Collective.Gather, sendbuf, into, root)

    @call("MPI_Gatherv")
    async def Gatherv(self, sendbuf: Spec, recvbuf: Spec, root: int = 0) -> None:
        """Send parts of any length of one group to the root in the other."""
        into = parts_of(recvbuf, self.remote_size, True) if root == ROOT else []
        await self._to_root(Collective.Gatherv, sendbuf, into, root)

    async def _to_root(self, collective: Collective, sendbuf: Spec, into: Sequence[View], root: int) -> None:
        if root == ROOT:
            await self._over(collective, *[await self._take(collective, part, at) for at, part in enumerate(into)])
        elif root != PROC_NULL:
            await self._over(collective, await self._give(collective, view(sendbuf), self._remote_root(root)))

    @call("MPI_Scatter")
    async def Scatter(self, sendbuf: Spec, recvbuf: Spec, root: int = 0) -> None:
        """Send equal parts of the root's data to the ranks of the other group."""
        out = equal_parts(sendbuf, self.remote_size) if root == ROOT else []
        await self._from_root(Collective.Scatter, out, recvbuf, root)

    @call("MPI_Scatterv")
    async def Scatterv(self, sendbuf: Spec, recvbuf: Spec, root: int = 0) -> None:
        """Send parts of any length of the root's data to the ranks of the other group."""
        out = parts_of(sendbuf, self.remote_size) if root == ROOT else []
        await self._from_root(Collective.Scatterv, out, recvbuf, root)

    async def _from_root(self, collective: Collective, out: Sequence[View], recvbuf: Spec, root: int) -> None:
        if root == ROOT:
            await self._over(collective, *[await self._give(collective, part, at) for at, part in enumerate(out)])
        elif root != PROC_NULL:
            into = view(recvbuf, True)
            await self._over(collective, await self._take(collective, into, self._remote_root(root)))

    @call("MPI_Allgather")
    async def Allgather(self, sendbuf: Spec, recvbuf: Spec) -> None:
        """Send equal parts of each group to all ranks of the other."""
        into = equal_parts(recvbuf, self.remote_size, True)
        await self._exchange(Collective.Allgather, [view(sendbuf)] * self.remote_size, into)

    @call("MPI_Allgatherv")
    async def Allgatherv(self, sendbuf: Spec, recvbuf: Spec) -> None:
        """Send parts of any length of each group to all ranks of the other."""
        into = parts_of(recvbuf, self.remote_size, True)
        await self._exchange(Collective.Allgatherv, [view(sendbuf)] * self.remote_size, into)

    @call("MPI_Alltoall")
    async def Alltoall(self, sendbuf: Spec, recvbuf: Spec) -> None:
        """Send an equal part of each rank to each rank of the other group."""
        out, into = equal_parts(sendbuf, self.remote_size), equal_parts(recvbuf, self.remote_size, True)
        await self._exchange(Collective.Alltoall, out, into)

    @call("MPI_Alltoallv")
    async def Alltoallv(self, sendbuf: Spec, recvbuf: Spec) -> None:
        """Send a part of any length of each rank to each rank of the other group."""
        out, into = parts_of(sendbuf, self.remote_size), parts_of(recvbuf, self.remote_size, True)
        await self._exchange(Collective.Alltoallv, out, into)

    @call("MPI_Alltoallw")
    async def Alltoallw(self, sendbufs: Sequence[Spec], recvbufs: Sequence[Spec]) -> None:
        """Send a part of any length and datatype of each rank to each rank of the other group."""
        out, into = [view(one) for one in sendbufs], [view(one, True) for one in recvbufs]
        await self._exchange(Collective.Alltoallw, out, into)

    async def _exchange(self, collective: Collective, out: Sequence[View], into: Sequence[View]) -> None:
        begun = [await self._take(collective, part, at) for at, part in enumerate(into)]
        begun += [await self._give(collective, part, at) for at, part in enumerate(out)]
        await self._over(collective, *begun)

    @call("MPI_Reduce")
    async def Reduce(self, sendbuf: Spec, recvbuf: Spec, op: Op = SUM, root: int = 0) -> None:
        """Reduce the arrays of one group element by element at the root in the other."""
        collective = Collective.Reduce
        if root == ROOT:
            into = view(recvbuf, True)
            came = np.zeros(into.size, np.uint8)
            await self._over(collective, await self._take(collective, view(came, True), 0))
            into.fill(came.tobytes())
        elif root != PROC_NULL:
            root = self._remote_root(root)
            result = await self.local._folded(collective, view(sendbuf), op)
            if self.rank == 0:
                await self._over(collective, await self._give(collective, view(result.tobytes()), root))

    @call("MPI_Allreduce")
    async def Allreduce(self, sendbuf: Spec, recvbuf: Spec, op: Op = SUM) -> None:
        """Reduce the arrays of each group element by element at all ranks of the other."""
        into = view(recvbuf, True)
        came = await self._reduced(Collective.Allreduce, view(sendbuf), op)
        await self.local._bcast(Collective.Allreduce, view(came, True), 0)
        into.fill(came.tobytes())

    async def _reduced(self, collective: Collective, data: View, op: Op) -> Any:
        """Return at the first rank the other group's result as bytes."""
        result = await self.local._folded(collective, data, op)
        came = np.zeros(data.size, np.uint8)
        if self.rank == 0:
            await self._pass(collective, view(result.tobytes()), 0, view(came, True), 0)
        return came

    @call("MPI_Reduce_scatter")
    async def Reduce_scatter(self, sendbuf: Spec, recvbuf: Spec, recvcounts: list[int], op: Op = SUM) -> None:
        """Scatter the other group's result in parts of `recvcounts` elements by rank."""
        await self._reduce_scatter(view(sendbuf), recvcounts, recvbuf, op)

    @call("MPI_Reduce_scatter_block")
    async def Reduce_scatter_block(self, sendbuf: Spec, recvbuf: Spec, op: Op = SUM) -> None:
        """Scatter the other group's result in equal parts."""
        data = view(sendbuf)
        await self._reduce_scatter(data, [data.count // self.size] * self.size, recvbuf, op)

    async def _reduce_scatter(self, data: View, counts: list[int], recvbuf: Spec, op: Op) -> None:
        collective, each = Collective.Reduce_scatter, data.datatype.size
        came = await self._reduced(collective, data, op)
        out = parts_of([came, [count * each for count in counts]], self.size) if self.rank == 0 else []
        into = view(recvbuf, True)
        own = np.zeros(into.size, np.uint8)
        await self.local._scatter(collective, out, own, 0)
        into.fill(own.tobytes())

    @call("MPI_Scan")
    async def Scan(self, sendbuf: Spec, recvbuf: Spec, op: Op = SUM) -> None:
        """Raise Misuse: the standard defines no scan between two groups."""
        raise Misuse(ErrorClass.COMM, f"{self.name} is an inter-communicator", "scan in an intra-communicator")

    @call("MPI_Exscan")
    async def Exscan(self, sendbuf: Spec, recvbuf: Spec, op: Op = SUM) -> None:
        """Raise Misuse: the standard defines no scan between two groups."""
        raise Misuse(ErrorClass.COMM, f"{self.name} is an inter-communicator", "scan in an intra-communicator")


def _of_colour(ranks: Sequence[int], table: Any, color: int) -> list[int]:
    """Return the ranks of a colour in the order of their keys."""
    chosen = sorted((int(table[at, 1]), at) for at in range(len(ranks)) if table[at, 0] == color)
    return [ranks[at] for _, at in chosen]


async def create_intercomm(
    local: Comm, leader: int, bridge: PointToPoint | None, remote_leader: int, tag: int = 0
) -> Intercomm:
    """Join the ranks of a communicator with those of another one, whose ranks call it too (`MPI_Intercomm_create`).

    Args:
        local: Communicator of all ranks of this side.
        leader: Rank in `local` of this side's leader.
        bridge: Communicator of both leaders; ignored at other ranks.
        remote_leader: Rank of the other side's leader in `bridge`.
        tag: Tag that separates concurrent calls of the two leaders.
    """
    collective, engine = Collective.Intercomm_create, local.engine
    with local.calling("MPI_Intercomm_create"):
        leader = local._root(leader)
        shared = np.zeros(2, "<i8")
        between: Steps | None = None
        if local.rank == leader:
            between = _between(engine, bridge, remote_leader, tag)
            own, other = np.array([engine.new_context(), local.size], "<i8"), np.zeros(2, "<i8")
            await between._pass(collective, view(own), remote_leader, view(other, True), remote_leader)
            shared[:] = own[0] if engine.rank < between.peers[remote_leader] else other[0], other[1]
        await local._bcast(collective, view(shared, True), leader)
        ranks, remote = np.array(local.ranks, "<i8"), np.zeros(int(shared[1]), "<i8")
        if between is not None:
            await between._pass(collective, view(ranks), remote_leader, view(remote, True), remote_leader)
        await local._bcast(collective, view(remote, True), leader)
        found = [int(one) for one in remote]
        if set(found) & set(local.ranks):
            raise Misuse(ErrorClass.COMM, "a rank is in both groups", "join groups that have no rank in common")
        return Intercomm(engine, local.ranks, found, int(shared[0]), f"{local.name} and another one")


def _between(engine: Engine, bridge: PointToPoint | None, remote_leader: int, tag: int) -> Steps:
    """Return the steps between the leaders of two groups. Raises Misuse."""
    if not isinstance(bridge, Steps):
        raise Misuse(ErrorClass.COMM, f"{bridge!r} is not a communicator", "give a communicator of both leaders")
    if bridge._peer("remote leader", remote_leader) in (None, engine.rank):
        raise Misuse(ErrorClass.RANK, f"the remote leader is {remote_leader}", "give a rank of the other group")
    steps = copy(bridge)
    steps.lane = Lane.of_creation(whole("tag", tag, ErrorClass.TAG))
    return steps
