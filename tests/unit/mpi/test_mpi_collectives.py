"""Collectives, communicators and derived datatypes.

Strategy: each collective runs on 1 to 5 ranks, with every root; numpy computes the expected result from the data of all
ranks. Lengths are on both sides of the eager limit. Operators that do not commute show the order of ranks. Messages in
one communicator are not visible in another. Datatypes are compared with slices of arrays.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from firmware.mpi.host import IN_PLACE, MAX, SUM, UNDEFINED, Mpi, Op
from firmware.mpi.host.groups import CONGRUENT, IDENT, SIMILAR, UNEQUAL
from tests.unit.mpi.mpi_bench import World

EVERY = pytest.mark.parametrize("ranks", [1, 2, 5])
LENGTHS = (1, 700)


def given(rank: int, length: int, salt: int = 0) -> Any:
    """Return a rank's data: doubles whose sums are exact."""
    return np.arange(length) * 3.0 + 1000 * rank + salt


@EVERY
def test_collectives_move_data_as_numpy_does(ranks: int) -> None:
    async def program(mpi: Mpi, rank: int) -> None:
        comm = mpi.COMM_WORLD
        for length in LENGTHS:
            every = np.stack([given(one, length) for one in range(ranks)])
            table = np.stack([[given(one, length, 7 * to) for to in range(ranks)] for one in range(ranks)])
            for root in {0, ranks - 1}:
                data = every[root].copy() if rank == root else np.zeros(length)
                await comm.Bcast(data, root)
                assert (data == every[root]).all()
                room = np.zeros((ranks, length))
                await comm.Gather(every[rank], room if rank == root else None, root)
                assert (room == every).all() == (rank == root or not every.any())
                await comm.Scatter(table[root] if rank == root else None, data, root)
                assert (data == table[root, rank]).all()
            room = np.zeros((ranks, length))
            await comm.Allgather(every[rank], room)
            assert (room == every).all()
            await comm.Alltoall(table[rank], room)
            assert (room == table[:, rank]).all()
            await comm.Barrier()

    World(ranks).run(program)


@EVERY
def test_parts_of_different_lengths_arrive_at_their_displacements(ranks: int) -> None:
    counts = [3 * rank % 4 for rank in range(ranks)]
    places = [5 * (ranks - 1 - rank) for rank in range(ranks)]

    async def program(mpi: Mpi, rank: int) -> None:
        comm, own = mpi.COMM_WORLD, given(rank, counts[rank])
        placed = np.full(5 * ranks, -1.0)
        for one in range(ranks):
            placed[places[one] : places[one] + counts[one]] = given(one, counts[one])
        room = np.full(5 * ranks, -1.0)
        await comm.Gatherv(own, [room, counts, places, mpi.DOUBLE], 0)
        assert rank or (room == placed).all()
        room = np.full(5 * ranks, -1.0)
        await comm.Allgatherv(own, [room, (counts, places)])
        assert (room == placed).all()
        part = np.zeros(counts[rank])
        await comm.Scatterv([placed, counts, places] if rank == 0 else None, part, 0)
        assert (part == own).all()
        out = np.concatenate([given(rank, counts[to], to) for to in range(ranks)])
        room = np.zeros(ranks * counts[rank])
        await comm.Alltoallv([out, counts], [room, [counts[rank]] * ranks])
        assert (room == np.concatenate([given(one, counts[rank], rank) for one in range(ranks)])).all()

    World(ranks).run(program)


@EVERY
def test_reductions_equal_those_of_numpy(ranks: int) -> None:
    async def program(mpi: Mpi, rank: int) -> None:
        comm = mpi.COMM_WORLD
        for length in LENGTHS:
            every = np.stack([given(one, ranks * length) for one in range(ranks)])
            room = np.zeros(ranks * length)
            for root in {0, ranks - 1}:
                await comm.Reduce(every[rank], room if rank == root else None, SUM, root)
                assert rank != root or (room == every.sum(0)).all()
            await comm.Allreduce(every[rank], room, MAX)
            assert (room == every.max(0)).all()
            room[:] = every[rank]
            await comm.Allreduce(IN_PLACE, room)
            assert (room == every.sum(0)).all()
            await comm.Scan(every[rank], room)
            assert (room == every[: rank + 1].sum(0)).all()
            await comm.Exscan(every[rank], room)
            assert rank == 0 or (room == every[:rank].sum(0)).all()
            part = np.zeros(length)
            await comm.Reduce_scatter_block(every[rank], part)
            assert (part == every.sum(0)[rank * length : (rank + 1) * length]).all()

    World(ranks).run(program)


def test_an_operator_that_does_not_commute_is_applied_in_the_order_of_ranks() -> None:
    async def program(mpi: Mpi, rank: int) -> None:
        comm, room = mpi.COMM_WORLD, np.zeros(1, "<i8")
        digits = Op.Create(lambda left, right: 10 * left + right)
        for root in range(4):
            await comm.Reduce(np.array([rank + 1]), room if rank == root else None, digits, root)
        assert room[0] == 1234
        await comm.Scan(np.array([rank + 1]), room, digits)
        assert room[0] == int("1234"[: rank + 1])

    World(4).run(program)


def test_messages_of_different_communicators_do_not_match() -> None:
    async def program(mpi: Mpi, rank: int) -> None:
        world, other = mpi.COMM_WORLD, 1 - rank
        copy, second = await world.Dup(), await world.Dup()
        if rank == 0:
            await world.Send(b"world", 1, 3)
            await copy.Send(b"copy.", 1, 3)
            await second.Send(b"other", 1, 3)
        else:
            for comm, word in ((second, b"other"), (copy, b"copy."), (world, b"world")):
                room = bytearray(5)
                await comm.Recv(room, other, 3)
                assert room == word
        await copy.Free()

    World(2).run(program)


def test_a_split_orders_ranks_by_key_and_works_independently() -> None:
    async def program(mpi: Mpi, rank: int) -> None:
        world = mpi.COMM_WORLD
        comm = await world.Split(UNDEFINED if rank == 4 else rank % 2, -rank)
        if rank == 4:
            assert comm is None
            return
        assert comm is not None
        room = np.zeros(comm.Get_size(), "<i8")
        await comm.Allgather(np.array([rank]), room)
        assert list(room) == ([2, 0] if rank % 2 == 0 else [3, 1])
        nested = await comm.Dup()
        await nested.Barrier()
        assert (comm.Compare(comm), comm.Compare(nested), comm.Compare(world)) == (IDENT, CONGRUENT, UNEQUAL)

    World(5).run(program)


def test_a_communicator_of_a_group_has_the_groups_order() -> None:
    async def program(mpi: Mpi, rank: int) -> None:
        world = mpi.COMM_WORLD.Get_group()
        some = world.Incl([3, 1])
        assert world.Excl([0, 2]).Compare(some) == SIMILAR
        assert some.Union(world.Incl([0])).ranks == (3, 1, 0)
        assert (world.Intersection(some).ranks, world.Difference(some).ranks) == ((1, 3), (0, 2))
        assert world.Translate_ranks([0, 1, 3], some) == [UNDEFINED, 1, 0]
        comm = await mpi.COMM_WORLD.Create(some)
        assert (comm is None) == (rank in (0, 2))
        if comm is not None:
            assert comm.Get_rank() == some.Get_rank() == (0 if rank == 3 else 1)
            total = np.zeros(1)
            await comm.Allreduce(np.array([float(rank)]), total)
            assert total[0] == 4

    World(4).run(program)


def test_derived_types_select_the_same_bytes_as_slices() -> None:
    grid = np.arange(48.0).reshape(6, 8)

    async def program(mpi: Mpi, rank: int) -> None:
        comm = mpi.COMM_WORLD
        column = mpi.DOUBLE.Create_vector(6, 1, 8).Commit()
        odd = mpi.DOUBLE.Create_indexed([2, 1, 3], [1, 8, 40]).Commit()
        pair = mpi.INT.Create_struct([1, 2], [0, 8], [mpi.INT, mpi.DOUBLE]).Commit()
        row = mpi.DOUBLE.Create_contiguous(8).Commit()
        assert (column.Get_size(), column.Get_extent(), pair.Get_size(), pair.Get_extent()) == (
            (48, (0, 41 * 8), 20, (0, 24))
        )
        if rank == 0:
            await comm.Send([grid.ravel()[3:], 1, column], 1)
            await comm.Send([grid, 1, odd], 1)
            await comm.Send([grid, 2, row], 1)
            await comm.Send([np.arange(48, dtype=np.uint8), 2, pair], 1)
            return
        room = np.zeros(6)
        await comm.Recv(room, 0)
        assert (room == grid[:, 3]).all()
        scattered = np.zeros((6, 8))
        await comm.Recv([scattered, 1, odd], 0)
        assert (scattered.ravel()[[1, 2, 8, 40, 41, 42]] == grid.ravel()[[1, 2, 8, 40, 41, 42]]).all()
        assert np.count_nonzero(scattered) == 6
        rows = np.zeros(16)
        await comm.Recv(rows, 0)
        assert (rows == grid[:2].ravel()).all()
        raw = np.zeros(40, np.uint8)
        await comm.Recv(raw, 0)
        assert list(raw) == [*range(4), *range(8, 28), *range(32, 48)]

    World(2).run(program)


@EVERY
def test_collectives_of_objects_equal_those_of_arrays(ranks: int) -> None:
    async def program(mpi: Mpi, rank: int) -> None:
        comm, every = mpi.COMM_WORLD, [{"rank": one, "pad": "x" * 3000 * (one % 2)} for one in range(ranks)]
        for root in {0, ranks - 1}:
            assert await comm.bcast(every[root] if rank == root else None, root) == every[root]
            assert await comm.gather(every[rank], root) == (every if rank == root else None)
            assert await comm.scatter(every if rank == root else None, root) == every[rank]
            assert await comm.reduce(rank + 1, root=root) == (ranks * (ranks + 1) // 2 if rank == root else None)
        assert await comm.allgather(every[rank]) == every
        assert await comm.alltoall([(rank, to) for to in range(ranks)]) == [(one, rank) for one in range(ranks)]
        assert await comm.allreduce(rank, MAX) == ranks - 1
        await comm.barrier()

    World(ranks).run(program)
