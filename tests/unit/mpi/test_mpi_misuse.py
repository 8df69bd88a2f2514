"""Invalid MPI calls: each fails with the error class of the standard, its rank and its name, without side effects.

Strategy: a table of invalid calls, each made on rank 1 of three, which continue: at the end all ranks still exchange
messages and finalise. Errors that end a rank (finalising with pending operations, collectives in different orders) have
their own tests.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import numpy as np
import pytest

from firmware.mpi.host import SUM, ErrorClass, Mpi, MpiError, Op, Request
from tests.unit.mpi.mpi_bench import World, pattern

Call = Callable[[Mpi], Awaitable[Any] | Any]
E = ErrorClass
ROOM = bytearray(16)


def any_of(value: Any) -> Any:
    """Return a value of a type that the call does not accept."""
    return value


WRONG: list[tuple[str, E, str, Call]] = [
    ("MPI_Send", E.RANK, "destination is 3, and MPI_COMM_WORLD has 3", lambda m: m.COMM_WORLD.Send(b"", 3)),
    ("MPI_Send", E.RANK, "destination is -3", lambda m: m.COMM_WORLD.Send(b"", -3)),
    ("MPI_Send", E.RANK, "'one' is not an integer", lambda m: m.COMM_WORLD.Send(b"", any_of("one"))),
    ("MPI_Recv", E.RANK, "source is 7", lambda m: m.COMM_WORLD.Recv(ROOM, 7)),
    ("MPI_Send", E.TAG, "tag is -1", lambda m: m.COMM_WORLD.Send(b"", 0, -1)),
    ("MPI_Send", E.TAG, f"tag is {1 << 31}", lambda m: m.COMM_WORLD.Send(b"", 0, 1 << 31)),
    ("MPI_Recv", E.TAG, "tag is -2", lambda m: m.COMM_WORLD.Recv(ROOM, 0, -2)),
    ("MPI_Send", E.COUNT, "count is -1", lambda m: m.COMM_WORLD.Send([ROOM, -1, m.INT], 0)),
    ("MPI_Send", E.BUFFER, "5 elements of MPI_INT end behind", lambda m: m.COMM_WORLD.Send([ROOM, 5, m.INT], 0)),
    ("MPI_Recv", E.BUFFER, "read-only", lambda m: m.COMM_WORLD.Recv(b"1234", 0)),
    ("MPI_Isend", E.BUFFER, "int does not give its bytes", lambda m: m.COMM_WORLD.Isend(42, 0)),
    ("MPI_Send", E.BUFFER, "has gaps", lambda m: m.COMM_WORLD.Send(np.zeros(8)[::2], 0)),
    ("MPI_Send", E.TYPE, "no datatype", lambda m: m.COMM_WORLD.Send(np.zeros(2, "M8[s]"), 0)),
    ("MPI_Send", E.TYPE, "not committed", lambda m: m.COMM_WORLD.Send([ROOM, 1, m.INT.Create_vector(2, 1, 2)], 0)),
    ("MPI_Type_vector", E.COUNT, "count is -1", lambda m: m.INT.Create_vector(-1, 1, 1)),
    ("MPI_Type_indexed", E.ARG, "lists of 2, 1 entries", lambda m: m.INT.Create_indexed([1, 2], [0])),
    ("MPI_Type_create_struct", E.ARG, "is -1", lambda m: m.INT.Create_struct([1], [-1], [m.INT])),
    ("MPI_Type_free", E.TYPE, "MPI_INT is a type of the standard", lambda m: m.INT.Free()),
    ("MPI_Bcast", E.ROOT, "root is 3", lambda m: m.COMM_WORLD.Bcast(ROOM, 3)),
    ("MPI_Reduce", E.OP, "is not an operator", lambda m: m.COMM_WORLD.Reduce(ROOM, None, any_of("sum"))),
    ("MPI_Allgather", E.COUNT, "16 elements for 3 ranks", lambda m: m.COMM_WORLD.Allgather(b"", ROOM)),
    ("MPI_Alltoallv", E.BUFFER, "no counts", lambda m: m.COMM_WORLD.Alltoallv(ROOM, ROOM)),
    ("MPI_Alltoallv", E.COUNT, "2 counts and 2", lambda m: m.COMM_WORLD.Alltoallv([ROOM, [1, 2]], ROOM)),
    ("MPI_Scatter", E.COUNT, "2 objects for 3 ranks", lambda m: m.COMM_WORLD.scatter([1, 2], 1)),
    ("MPI_Comm_split", E.ARG, "color is -2", lambda m: m.COMM_WORLD.Split(-2)),
    ("MPI_Comm_free", E.COMM, "stays until MPI_Finalize", lambda m: m.COMM_WORLD.Free()),
    ("MPI_Group_incl", E.RANK, "rank is 3", lambda m: m.COMM_WORLD.Get_group().Incl([3])),
    ("MPI_Group_excl", E.RANK, "duplicate rank", lambda m: m.COMM_WORLD.Get_group().Excl([1, 1])),
    ("MPI_Bsend", E.BUFFER, "4 bytes, and 0 of 0", lambda m: m.COMM_WORLD.Bsend(b"word", 0)),
    ("MPI_Buffer_attach", E.BUFFER, "size is 0", lambda m: m.Attach_buffer(0)),
    ("MPI_Start", E.REQUEST, "is not persistent", lambda m: Request(m.engine).Start()),
    ("MPI_Cancel", E.REQUEST, "null or inactive", lambda m: Request(m.engine).Cancel()),
    ("MPI_Waitall", E.REQUEST, "7 is not a request", lambda m: Request.Waitall([Request(m.engine), any_of(7)])),
    ("MPI_Init", E.OTHER, "is initialized already", lambda m: m.Init()),
]


async def made(call: Call, mpi: Mpi) -> None:
    """Return the result of a call, awaiting it if necessary."""
    result = call(mpi)
    if isinstance(result, Awaitable):
        await result


def test_each_invalid_call_raises_its_error_without_side_effects() -> None:
    async def program(mpi: Mpi, rank: int) -> None:
        comm = mpi.COMM_WORLD
        if rank == 1:
            for name, error_class, said, call in WRONG:
                with pytest.raises(MpiError) as error:
                    await made(call, mpi)
                text = f"{name}: {error.value}"
                assert (error.value.rank, error.value.call, error.value.error_class) == (1, name, error_class), text
                assert said in str(error.value), text
        room = bytearray(5000)
        await comm.Sendrecv(pattern(5000, rank), (rank + 1) % 3, 0, room, (rank - 1) % 3, 0)
        assert room == pattern(5000, (rank - 1) % 3)

    World(3).run(program)


def test_an_error_names_rank_call_class_cause_and_remedy() -> None:
    error = MpiError(2, "MPI_Send", ErrorClass.TAG, "tag is -1", "give 0 or more")
    assert str(error) == "rank 2, MPI_Send, MPI_ERR_TAG: tag is -1; give 0 or more"


async def _open(mpi: Mpi, rank: int) -> None:
    if rank == 0:
        await mpi.COMM_WORLD.Irecv(bytearray(4), 1)


async def _unreceived(mpi: Mpi, rank: int) -> None:
    if rank == 0:
        await mpi.COMM_WORLD.Send(b"word", 1, 6)


async def _other_collective(mpi: Mpi, rank: int) -> None:
    await (mpi.COMM_WORLD.Barrier() if rank == 1 else mpi.COMM_WORLD.Bcast(bytearray(4)))


async def _other_count(mpi: Mpi, rank: int) -> None:
    await mpi.COMM_WORLD.Bcast(bytearray(4 + rank))


async def _freed(mpi: Mpi, rank: int) -> None:
    comm = await mpi.COMM_WORLD.Dup()
    await comm.Free()
    await comm.Send(b"", 0)


async def _finalized(mpi: Mpi, rank: int) -> None:
    await mpi.Finalize()
    await mpi.COMM_WORLD.Send(b"", 0)


async def _foreign_group(mpi: Mpi, rank: int) -> None:
    half = await mpi.COMM_WORLD.Split(rank % 2)
    assert half is not None
    await half.Create(mpi.COMM_WORLD.Get_group())


async def _unlike(mpi: Mpi, rank: int) -> None:
    both = mpi.INT.Create_struct([1, 1], [0, 8], [mpi.INT, mpi.DOUBLE]).Commit()
    room = bytearray(16)
    await mpi.COMM_WORLD.Allreduce([room, 1, both], [room, 1, both], SUM)


@pytest.mark.parametrize(
    ("program", "said"),
    [
        (_open, "rank 0, MPI_Finalize, MPI_ERR_PENDING: 1 operations are open, the first one of MPI_Irecv"),
        (_unreceived, "rank 1, MPI_Finalize, MPI_ERR_PENDING: 1 messages were not received, the first one from rank 0"),
        (_other_collective, "rank 1, MPI_Barrier, MPI_ERR_OTHER: rank 0 of MPI_COMM_WORLD is in MPI_Bcast"),
        (_other_count, "rank 1, MPI_Bcast, MPI_ERR_COUNT: rank 0 sends 4 bytes, but 5 are expected"),
        (_freed, "MPI_Send, MPI_ERR_COMM: a copy of MPI_COMM_WORLD is freed"),
        (_finalized, "MPI_Send, MPI_ERR_OTHER: MPI is not initialized, or is finalized"),
        (_foreign_group, "MPI_Comm_create, MPI_ERR_GROUP: the group has ranks that colour"),
        (_unlike, "MPI_Allreduce, MPI_ERR_TYPE: a struct has elements of several types"),
    ],
)
def test_errors_that_end_a_job_are_reported(program: Any, said: str) -> None:
    with pytest.raises(MpiError) as error:
        World(3 if program is _other_collective else 2).run(program)
    assert said in str(error.value)


def test_a_call_before_init_is_rejected() -> None:
    world = World(2)
    with pytest.raises(MpiError, match="rank 0, MPI_Send, MPI_ERR_OTHER: MPI is not initialized"):
        world.machine.finish(world.ranks[0].COMM_WORLD.Send(b"", 1))


def test_op_create_requires_a_function() -> None:
    assert Op.Create(np.hypot).commute is False
