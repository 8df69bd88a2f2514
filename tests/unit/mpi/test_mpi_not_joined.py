"""Collectives that one rank does not join: the hang report names the calls of the waiting ranks and the missing rank.

Strategy: of three ranks the last one, or the rank that the others wait for, waits for a message that is never sent.
Ranks whose part is complete early, such as those that only send, are in their next call then.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import numpy as np
import pytest

from pymodels.machine import MachineError
from tests.unit.mpi.mpi_bench import World

ABSENT = 2


def ones(count: int = 1) -> Any:
    """Return the elements that all ranks give."""
    return np.ones(count)


CALLS: dict[str, Callable[[Any], Awaitable[Any]]] = {
    "Barrier": lambda comm: comm.Barrier(),
    "Bcast": lambda comm: comm.Bcast(ones(), ABSENT),
    "Gather": lambda comm: comm.Gather(ones(), ones(3)),
    "Gatherv": lambda comm: comm.Gatherv(ones(), [ones(3), [1, 1, 1]]),
    "Scatter": lambda comm: comm.Scatter(None, ones(), ABSENT),
    "Scatterv": lambda comm: comm.Scatterv(None, ones(), ABSENT),
    "Allgather": lambda comm: comm.Allgather(ones(), ones(3)),
    "Allgatherv": lambda comm: comm.Allgatherv(ones(), [ones(3), [1, 1, 1]]),
    "Alltoall": lambda comm: comm.Alltoall(ones(3), ones(3)),
    "Alltoallv": lambda comm: comm.Alltoallv([ones(3), [1, 1, 1]], [ones(3), [1, 1, 1]]),
    "Alltoallw": lambda comm: comm.Alltoallw([ones()] * 3, [ones() for _ in range(3)]),
    "Reduce": lambda comm: comm.Reduce(ones(), ones()),
    "Allreduce": lambda comm: comm.Allreduce(ones(), ones()),
    "Reduce_scatter": lambda comm: comm.Reduce_scatter(ones(3), ones(), [1, 1, 1]),
    "Comm_dup": lambda comm: comm.Dup(),
    "Comm_split": lambda comm: comm.Split(),
    "Comm_create": lambda comm: comm.Create(comm.Get_group()),
}


NAMING = {"Comm_dup": 0, "Comm_create": 0}
"""Absent rank of calls in which all others wait for rank 0, which chooses the contexts of the new communicator."""


@pytest.mark.parametrize("name", CALLS)
def test_the_hang_report_names_a_collective_and_the_rank_that_does_not_join(name: str) -> None:
    absent = NAMING.get(name, ABSENT)
    other = (absent + 1) % 3

    async def program(mpi: Any, rank: int) -> None:
        comm = mpi.COMM_WORLD
        if rank == absent:
            await comm.Recv(bytearray(1), other, 77)
        else:
            await CALLS[name](comm)
            await comm.Recv(bytearray(1), 0, 78)

    with pytest.raises(MachineError) as error:
        World(3).run(program, within_us=2000)
    said = str(error.value)
    waits = [line for line in said.splitlines() if f"waits for MPI_{name}: rank {absent}, any tag" in line]
    assert waits and all(f"held by host host{absent}" in line for line in waits), said
    waiting = f"host host{absent}: rank {absent} waits for MPI_Recv: rank {other}, tag 77, held by host host{other}"
    assert waiting in said
