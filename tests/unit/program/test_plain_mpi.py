"""MPI for plain functions: greenlets in place of processes.

Strategy: functions without `await` run on the machine, four ranks at once. Their results must be those of the standard,
and an error must reach the function that made the call. Times must be those of the same program written as coroutines.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from firmware.mpi.host import Mpi, MpiError
from pymodels.errors import ConfigError
from pymodels.machine import MachineError
from tb.program.mpi.plain.find import function_of
from tb.program.mpi.plain.front import OutsideError, run_plain
from tests.unit.mpi.mpi_bench import World, pattern


def run(function: Any, ranks: int = 4, **world: Any) -> list[Any]:
    """Run a plain function on every rank, and return the result of each."""
    return World(ranks, **world).run(lambda mpi, rank: run_plain(mpi, function))


def everything(mpi: Any) -> tuple[Any, ...]:
    """Calls of all sorts, some of them in a function that this one calls."""
    comm = mpi.COMM_WORLD
    rank, size = comm.Get_rank(), comm.Get_size()
    room, status = bytearray(5000), mpi.Status()
    receive = comm.Irecv(room, (rank - 1) % size, tag=3)
    comm.Send(pattern(5000, rank), (rank + 1) % size, tag=3)
    receive.Wait(status)
    assert room == pattern(5000, (rank - 1) % size) and status.Get_count(mpi.BYTE) == 5000
    half = comm.Split(rank % 2, -rank)
    total = np.zeros(1)
    half.Allreduce(np.array([rank + 0.5]), total, mpi.MAX)
    requests = [comm.Isend(bytes([rank]), to) for to in range(size)]
    rooms = [bytearray(1) for _ in range(size)]
    requests += [comm.Irecv(one, source) for source, one in enumerate(rooms)]
    mpi.Request.Waitall(requests)
    assert [one[0] for one in rooms] == list(range(size))
    return half.Get_rank(), float(total[0]), deeper(comm), comm.allreduce(rank)


def deeper(comm: Any) -> Any:
    """Call MPI in a plain function that a plain function calls."""
    return comm.bcast({"from": 2} if comm.Get_rank() == 2 else None, 2)


def test_plain_functions_call_mpi_without_await() -> None:
    results = run(everything)
    assert results == [
        (1, 2.5, {"from": 2}, 6),
        (1, 3.5, {"from": 2}, 6),
        (0, 2.5, {"from": 2}, 6),
        (0, 3.5, {"from": 2}, 6),
    ]


def test_an_error_reaches_the_function_that_made_the_call() -> None:
    def program(mpi: Any) -> str:
        try:
            mpi.COMM_WORLD.Send(b"", 7)
        except MpiError as error:
            return error.error_class.name
        return "none"

    assert run(program) == ["RANK"] * 4


def test_an_exception_of_a_function_ends_the_run() -> None:
    def program(mpi: Any) -> None:
        raise ZeroDivisionError("of a plain function")

    with pytest.raises(ZeroDivisionError, match="of a plain function"):
        run(program)


def test_a_hang_names_the_calls() -> None:
    with pytest.raises(MachineError, match="rank 0 waits for MPI_Recv: rank 1, tag 9"):
        World(2).run(
            lambda mpi, rank: run_plain(mpi, lambda plain: plain.COMM_WORLD.Recv(bytearray(1), 1 - rank, 9)),
            within_us=1000,
        )


def test_a_call_outside_of_a_rank_is_rejected() -> None:
    kept: list[Any] = []
    run(lambda mpi: kept.append(mpi.COMM_WORLD), ranks=2)
    with pytest.raises(OutsideError):
        kept[0].Barrier()


def test_a_plain_function_takes_as_long_as_the_same_coroutine() -> None:
    def plainly(mpi: Any) -> float:
        comm, room = mpi.COMM_WORLD, bytearray(100)
        for _ in range(5):
            if comm.Get_rank() == 0:
                comm.Send(bytes(100), 1)
                comm.Recv(room, 1)
            else:
                comm.Recv(room, 0)
                comm.Send(room, 0)
        return float(mpi.Wtime())

    async def awaiting(mpi: Mpi, rank: int) -> float:
        comm, room = mpi.COMM_WORLD, bytearray(100)
        for _ in range(5):
            if rank == 0:
                await comm.Send(bytes(100), 1)
                await comm.Recv(room, 1)
            else:
                await comm.Recv(room, 0)
                await comm.Send(room, 0)
        return mpi.Wtime()

    assert run(plainly, ranks=2) == World(2).run(awaiting)


@pytest.mark.parametrize(
    ("named", "said"),
    [
        ("mine.py", "no function"),
        ("none.py:main", "file not found"),
        ("mine.py:nothing", "no function 'nothing'"),
        ("mine.py:maim", "did you mean 'main'"),
        ("wrong.py:main", "SyntaxError"),
    ],
)
def test_an_invalid_function_is_rejected(named: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("def main(MPI): return MPI\n", encoding="utf-8")
    (tmp_path / "wrong.py").write_text("def main(MPI:\n", encoding="utf-8")
    assert function_of("mine.py:main", tmp_path)(5) == 5
    with pytest.raises(ConfigError, match=said):
        function_of(named, tmp_path)
