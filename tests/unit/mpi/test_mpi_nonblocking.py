"""Non-blocking collectives.

Strategy: each gives the result of its blocking form, over every layer below. Several are in progress in one
communicator beside messages and blocking collectives, and complete in another order than started. A rank that has
started one and waits for something else must let the others finish.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from firmware.mpi.host import MAX, SUM, ErrorClass, Mpi, Op, Request, Status
from tests.unit.mpi.mpi_bench import World, refused

LONG = 3000
"""Doubles of a rendezvous message."""


def given(rank: int, length: int) -> Any:
    """Return a rank's data: doubles whose sums are exact."""
    return np.arange(length) + 1000.0 * rank


@pytest.mark.parametrize(("ranks", "on"), [(1, "grim"), (2, "via"), (5, "grim")])
@pytest.mark.parametrize("length", [1, LONG])
def test_concurrent_collectives_give_the_results_of_the_blocking_ones(ranks: int, on: str, length: int) -> None:
    async def program(mpi: Mpi, rank: int) -> None:
        comm, mine, root = mpi.COMM_WORLD, given(rank, length), ranks - 1
        every = np.stack([given(one, length) for one in range(ranks)])
        wide, counts = np.concatenate([mine] * ranks), [length] * ranks
        told = every[root].copy() if rank == root else np.zeros(length)
        rooms = {name: np.zeros((ranks, length)) for name in ("gather", "gatherv", "all", "allv", "a2a", "a2av", "w")}
        part, partv, low, sums, before, within, own, block = (np.zeros(length) for _ in range(8))
        requests = [
            await comm.Ibarrier(),
            await comm.Ibcast(told, root),
            await comm.Igather(mine, rooms["gather"] if rank == root else None, root),
            await comm.Igatherv(mine, [rooms["gatherv"], counts] if rank == root else None, root),
            await comm.Iscatter(every if rank == root else None, part, root),
            await comm.Iscatterv([every, counts] if rank == root else None, partv, root),
            await comm.Iallgather(mine, rooms["all"]),
            await comm.Iallgatherv(mine, [rooms["allv"], counts]),
            await comm.Ialltoall(wide, rooms["a2a"]),
            await comm.Ialltoallv([wide, counts], [rooms["a2av"], counts]),
            await comm.Ialltoallw([mine] * ranks, list(rooms["w"])),
            await comm.Ireduce(mine, low if rank == root else None, MAX, root),
            await comm.Iallreduce(mine, sums),
            await comm.Iexscan(mine, before),
            await comm.Iscan(mine, within, Op.Create(np.add)),
            await comm.Ireduce_scatter(wide, own, counts),
            await comm.Ireduce_scatter_block(wide, block),
        ]
        await Request.Waitall(requests[::-1])
        at_root = rank == root
        assert (told == every[root]).all() and (part == every[rank]).all() and (partv == every[rank]).all()
        assert (rooms["gather"] == every).all() == (at_root or not every.any())
        assert (rooms["gatherv"] == every).all() == (at_root or not every.any())
        assert all((rooms[name] == every).all() for name in ("all", "allv", "a2a", "a2av", "w"))
        assert (low == every[-1]).all() == (at_root or not every.any())
        assert all((one == every.sum(0)).all() for one in (sums, own, block))
        assert (before == every[:rank].sum(0)).all() and (within == every[: rank + 1].sum(0)).all()

    World(ranks, on=on).run(program)


def test_blocking_collectives_and_messages_complete_beside_one_in_progress() -> None:
    async def program(mpi: Mpi, rank: int) -> None:
        comm, sums, total = mpi.COMM_WORLD, np.zeros(LONG), np.zeros(1)
        if rank == 2:
            for other in (0, 1):
                await comm.send("before", other)
        late = await comm.Iallreduce(given(rank, LONG), sums)
        if rank != 2:
            assert await comm.recv(2) == "before"
        await comm.Allreduce(np.ones(1), total)
        assert total[0] == 3
        assert await Request.Waitany([late]) == 0
        assert (sums == sum(given(one, LONG) for one in range(3))).all()
        assert not late.active

    World(3).run(program)


@pytest.mark.parametrize("on", ["grim", "via"])
def test_a_rank_that_waits_for_a_message_lets_a_collective_finish(on: str) -> None:
    """Rank 1 is an inner node of the tree; it waits for a message that rank 3 sends after the broadcast."""

    async def program(mpi: Mpi, rank: int) -> None:
        comm, data = mpi.COMM_WORLD, given(9, LONG) if not rank else np.zeros(LONG)
        if rank == 2:
            request = await comm.Ibcast(data, 0)
            assert await comm.recv(3) == "have it"
            assert await request.Test()
        else:
            await (await comm.Ibcast(data, 0)).Wait()
            if rank == 3:
                await comm.send("have it", 2)
        assert (data == given(9, LONG)).all()

    World(4, on=on).run(program)


def test_test_reports_the_end_of_a_barrier_with_an_empty_status() -> None:
    async def program(mpi: Mpi, rank: int) -> None:
        comm, status = mpi.COMM_WORLD, Status()
        if rank == 0:
            request = await comm.Ibarrier()
            assert not await request.Test()
            await comm.send("go", 1)
        else:
            assert await comm.recv(0) == "go"
            request = await comm.Ibarrier()
        while not await request.Test(status):
            pass
        assert status == Status()

    World(2).run(program)


def test_invalid_arguments_are_raised_by_the_starting_call() -> None:
    async def program(mpi: Mpi, rank: int) -> None:
        await refused(mpi.COMM_WORLD.Ibcast(np.zeros(1), 7), ErrorClass.ROOT)
        await refused(mpi.COMM_WORLD.Iallreduce(np.zeros(3), np.zeros(1), SUM), ErrorClass.BUFFER)

    World(1).run(program)


def test_concurrently_created_communicators_have_separate_contexts() -> None:
    async def program(mpi: Mpi, rank: int) -> None:
        comm = mpi.COMM_WORLD
        low, high = await comm.Split(0, rank), await comm.Split(0, -rank)
        assert low is not None and high is not None
        order = (low, high) if rank else (high, low)
        begun = {one.context: await one.Idup() for one in order}
        made = [begun[context] for context in sorted(begun)]
        blocking = await comm.Dup()
        await Request.Waitall([request for _, request in made])
        contexts = {one.context for one in (low, high, blocking, comm, *(one for one, _ in made))}
        assert len(contexts) == 6
        every = await comm.allgather(sorted(contexts))
        assert every == [every[0]] * 3
        for one, _ in made:
            assert await one.allreduce(1) == 3

    World(3).run(program)


def test_a_group_creates_a_communicator_without_the_other_ranks() -> None:
    async def program(mpi: Mpi, rank: int) -> None:
        comm = mpi.COMM_WORLD
        if rank < 3:
            half = await comm.Create_group(comm.Get_group().Incl([2, 0, 1]), tag=5)
            assert half is not None and half.ranks == (2, 0, 1)
            assert await half.allgather(rank) == [2, 0, 1]
        else:
            assert await comm.Create_group(comm.Get_group().Incl([0]), tag=6) is None

    World(4).run(program)
