"""First program of MPI's page.

Strategy: the program runs on several numbers of ranks.
"""

from __future__ import annotations

import numpy as np
import pytest

from firmware.mpi.host import ANY_SOURCE, ANY_TAG, Mpi, Status
from tests.unit.mpi.mpi_bench import World


async def program(mpi: Mpi, rank: int) -> float:
    comm = mpi.COMM_WORLD
    data = np.zeros(1000)
    if rank == 0:
        await comm.Send(data, 1, tag=5)  # an array, bytes, or [buffer, count, datatype]
    elif rank == 1:
        status = Status()
        await comm.Recv(data, ANY_SOURCE, ANY_TAG, status)
        assert (status.source, status.tag, status.Get_count(mpi.DOUBLE)) == (0, 5, 1000)
    total = np.zeros(1)
    await comm.Allreduce(np.array([rank + 0.5]), total)
    return float(total[0])


@pytest.mark.parametrize("ranks", [2, 3])
def test_the_first_program_does_what_it_says(ranks: int) -> None:
    assert World(ranks).run(program) == [ranks**2 / 2] * ranks
