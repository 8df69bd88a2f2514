"""Inter-communicators.

Strategy: two groups of different sizes are joined, one of them in another order than in MPI_COMM_WORLD. Messages,
collectives in both directions and their non-blocking forms give the results of the standard; derived communicators have
the right ranks in the right order.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import numpy as np
import pytest

from firmware.mpi.host import ROOT, SUM, UNDEFINED, ErrorClass, Intercomm, Mpi, Status, create_intercomm
from firmware.mpi.host.groups import CONGRUENT, IDENT, SIMILAR, UNEQUAL
from firmware.mpi.host.status import PROC_NULL
from tests.unit.mpi.mpi_bench import World, refused

LEFT, RIGHT = (0, 2, 4), (3, 1)
"""Ranks in MPI_COMM_WORLD of the two groups."""
Body = Callable[[Mpi, Intercomm], Awaitable[None]]


def joined(body: Body, on: str = "grim") -> None:
    """Run a program on five ranks that are joined as two groups."""

    async def program(mpi: Mpi, rank: int) -> None:
        world, mine = mpi.COMM_WORLD, LEFT if rank in LEFT else RIGHT
        local = await world.Create(world.Get_group().Incl(mine))
        assert local is not None
        leader, other = (1, RIGHT[0]) if mine is LEFT else (0, LEFT[1])
        inter = await create_intercomm(local, leader, world, other, tag=9)
        assert (inter.ranks, inter.peers) == ((LEFT, RIGHT) if mine is LEFT else (RIGHT, LEFT))
        await body(mpi, inter)
        await inter.Free()
        await world.Barrier()

    World(5, on=on).run(program)


def given(rank: int, length: int = 4) -> Any:
    """Return the data of a rank of MPI_COMM_WORLD."""
    return np.arange(length) + 100.0 * rank


@pytest.mark.parametrize("on", ["grim", "via"])
def test_messages_go_to_ranks_of_the_other_group(on: str) -> None:
    async def body(mpi: Mpi, inter: Intercomm) -> None:
        status, came = Status(), np.zeros(4)
        to = inter.rank % inter.remote_size
        request = await inter.Isend(given(inter.engine.rank), to, 3)
        for source in [one for one in range(inter.remote_size) if one % inter.size == inter.rank]:
            await inter.Probe(source, 3, status)
            await inter.Recv(came, source, 3, status)
            assert status.source == source and (came == given(inter.peers[source])).all()
        await request.Wait()
        await refused(inter.Send(came, inter.remote_size), ErrorClass.RANK)

    joined(body, on)


@pytest.mark.parametrize("non_blocking", [False, True])
def test_rooted_collectives_move_data_from_one_group_to_the_other(non_blocking: bool) -> None:
    async def body(mpi: Mpi, inter: Intercomm) -> None:
        async def done(name: str, *arguments: Any) -> None:
            request = await getattr(inter, f"I{name.lower()}" if non_blocking else name)(*arguments)
            if non_blocking:
                await request.Wait()

        for ranks in (LEFT, RIGHT):
            here, at = inter.ranks == ranks, 1
            root = (ROOT if inter.rank == at else PROC_NULL) if here else at
            others = np.stack([given(one) for one in (inter.peers if here else inter.ranks)])
            mine, data = given(inter.engine.rank), given(50) if root == ROOT else np.zeros(4)
            await done("Bcast", data, root)
            assert here or (data == given(50)).all()
            room = np.zeros(others.shape)
            for name, into in (("Gather", room), ("Gatherv", [room, [4] * len(others)])):
                room[:] = 0
                await done(name, mine, into, root)
                assert (room == others).all() == (root == ROOT)
            for name, out in (("Scatter", others), ("Scatterv", [others, [4] * len(others)])):
                data = np.zeros(4)
                await done(name, out, data, root)
                assert here or (data == mine).all()
            total = np.zeros(4)
            await done("Reduce", mine, total, SUM, root)
            assert (total == others.sum(0)).all() == (root == ROOT)

    joined(body)


@pytest.mark.parametrize("non_blocking", [False, True])
def test_collectives_of_all_ranks_give_each_group_the_others_data(non_blocking: bool) -> None:
    async def body(mpi: Mpi, inter: Intercomm) -> None:
        async def done(name: str, *arguments: Any) -> None:
            request = await getattr(inter, f"I{name.lower()}" if non_blocking else name)(*arguments)
            if non_blocking:
                await request.Wait()

        others, mine = np.stack([given(one) for one in inter.peers]), given(inter.engine.rank)
        counts, size = [4] * inter.remote_size, inter.remote_size
        await done("Barrier")
        for name, into in (("Allgather", None), ("Allgatherv", counts)):
            room = np.zeros((size, 4))
            await done(name, mine, [room, into] if into else room)
            assert (room == others).all()
        wide = np.concatenate([mine] * size)
        for name, out in (("Alltoall", wide), ("Alltoallv", [wide, counts]), ("Alltoallw", [mine] * size)):
            room = np.zeros((size, 4))
            await done(name, out, {"Alltoall": room, "Alltoallv": [room, counts], "Alltoallw": list(room)}[name])
            assert (room == others).all()
        total = np.zeros(4)
        await done("Allreduce", mine, total)
        assert (total == others.sum(0)).all()
        every, share = np.tile(given(inter.engine.rank, 6), 1), 6 // inter.size
        part, block = np.zeros(share), np.zeros(share)
        await done("Reduce_scatter", every, part, [share] * inter.size)
        await done("Reduce_scatter_block", every, block)
        sums = sum(given(one, 6) for one in inter.peers)[inter.rank * share :][:share]
        assert (part == sums).all() and (block == sums).all()
        await refused(inter.Scan(mine, total), ErrorClass.COMM, "inter-communicator")

    joined(body)


def test_communicators_made_of_an_inter_communicator_have_the_right_ranks() -> None:
    async def body(mpi: Mpi, inter: Intercomm) -> None:
        left = inter.ranks == LEFT
        for high, ranks in ((left, RIGHT + LEFT), (not left, LEFT + RIGHT), (False, LEFT + RIGHT)):
            both = await inter.Merge(high)
            assert both.ranks == ranks and await both.allgather(inter.engine.rank) == list(ranks)
        copy = await inter.Dup()
        later, request = await inter.Idup()
        await request.Wait()
        assert copy.context != later.context != inter.context
        await later.Barrier()
        assert (inter.Compare(inter), inter.Compare(copy)) == (IDENT, CONGRUENT)
        turned = await inter.Split(0, -inter.rank)
        assert turned is not None and turned.ranks == inter.ranks[::-1] and turned.peers == inter.peers[::-1]
        assert inter.Compare(turned) == SIMILAR
        lone = await inter.Split(0 if left or inter.rank == 0 else UNDEFINED, 0)
        assert (lone is None) == (not left and inter.rank == 1)
        assert lone is None or lone.remote_size == (1 if left else 3)
        assert lone is None or lone.Compare(inter) == UNEQUAL
        assert await inter.Split(int(left), 0) is None, "the other group has no rank of the colour"
        some = await inter.Create(inter.Get_group().Incl([1]))
        assert (some is None) == (inter.rank != 1)
        if some is not None:
            assert some.Get_remote_group().ranks == (inter.peers[1],)
            await some.Barrier()

    joined(body)


def test_groups_with_a_common_rank_or_an_outside_leader_are_rejected() -> None:
    async def program(mpi: Mpi, rank: int) -> None:
        world = mpi.COMM_WORLD
        alone = await world.Split(rank)
        assert alone is not None
        await refused(create_intercomm(alone, 0, world, rank), ErrorClass.RANK)
        await refused(create_intercomm(alone, 0, world, 5), ErrorClass.RANK)
        await refused(create_intercomm(alone, 0, None, 0), ErrorClass.COMM)
        await refused(create_intercomm(alone, 3, world, 1 - rank), ErrorClass.ROOT)

    World(2).run(program)
