"""A collective that one rank does not join: the report of the hang names the calls of those that wait, and for whom.

Strategy: of three ranks the last one, or the root where the others wait for nobody else, waits for a message that
nobody sends. Ranks whose part is over before, as those that only give, are in their next call then.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import numpy as np
import pytest

from pymodels.machine import MachineError
from tests.unit.mpi_bench import World

ABSENT = 2


def ones(count: int = 1) -> Any:
    """Elements that all give."""
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


@pytest.mark.parametrize("name", CALLS)
def test_a_collective_that_a_rank_does_not_join_is_named_with_that_rank(name: str) -> None:
    async def program(mpi: Any, rank: int) -> None:
        comm = mpi.COMM_WORLD
        if rank == ABSENT:
            await comm.Recv(bytearray(1), 0, 77)
        else:
            await CALLS[name](comm)
            await comm.Recv(bytearray(1), 0, 78)

    with pytest.raises(MachineError) as error:
        World(3).run(program, within_us=2000)
    said = str(error.value)
    waits = [line for line in said.splitlines() if f"waits for MPI_{name}: rank {ABSENT}, any tag" in line]
    assert waits and all("held by host host2" in line for line in waits), said
    assert "host host2: rank 2 waits for MPI_Recv: rank 0, tag 77, held by host host0" in said
