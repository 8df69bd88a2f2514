"""The library has the calls of the programs that it is for.

Strategy: the calls of each program are listed here as its source has them; each must have a handler in the table. Where
a program calls more than is there, the first missing call is what ends it, and the page says so.
"""

from __future__ import annotations

import pytest

from tb.program.mpi.calls import LOCAL, table

EVERY = {"MPI_Init", "MPI_Finalize", "MPI_Comm_rank", "MPI_Comm_size", "MPI_Barrier", "MPI_Wtime"}
COLLECTIVE = EVERY | {"MPI_Reduce"}
"""The programs of collectives sum up their times."""
OSU = {
    "osu_latency": EVERY | {"MPI_Send", "MPI_Recv"},
    "osu_bw": EVERY | {"MPI_Isend", "MPI_Irecv", "MPI_Waitall", "MPI_Send", "MPI_Recv"},
    "osu_bibw": EVERY | {"MPI_Isend", "MPI_Irecv", "MPI_Waitall", "MPI_Send", "MPI_Recv"},
    "osu_mbw_mr": EVERY | {"MPI_Isend", "MPI_Irecv", "MPI_Waitall", "MPI_Send", "MPI_Recv", "MPI_Reduce"},
    "osu_multi_lat": EVERY | {"MPI_Send", "MPI_Recv", "MPI_Reduce"},
    "osu_allgather": COLLECTIVE | {"MPI_Allgather"},
    "osu_allgatherv": COLLECTIVE | {"MPI_Allgatherv"},
    "osu_allreduce": COLLECTIVE | {"MPI_Allreduce"},
    "osu_alltoall": COLLECTIVE | {"MPI_Alltoall"},
    "osu_alltoallv": COLLECTIVE | {"MPI_Alltoallv"},
    "osu_barrier": COLLECTIVE,
    "osu_bcast": COLLECTIVE | {"MPI_Bcast"},
    "osu_gather": COLLECTIVE | {"MPI_Gather"},
    "osu_gatherv": COLLECTIVE | {"MPI_Gatherv"},
    "osu_reduce": COLLECTIVE,
    "osu_reduce_scatter": COLLECTIVE | {"MPI_Reduce_scatter"},
    "osu_scatter": COLLECTIVE | {"MPI_Scatter"},
    "osu_scatterv": COLLECTIVE | {"MPI_Scatterv"},
    **{
        f"osu_{name.lower()}": COLLECTIVE | {f"MPI_{name}", "MPI_Wait", "MPI_Test"}
        for name in (
            "Iallgather",
            "Iallgatherv",
            "Iallreduce",
            "Ialltoall",
            "Ialltoallv",
            "Ialltoallw",
            "Ibarrier",
            "Ibcast",
            "Igather",
            "Igatherv",
            "Ireduce",
            "Iscatter",
            "Iscatterv",
        )
    },
}
"""Point-to-point and collective programs of the OSU micro-benchmarks 5.4."""
ENDS = {"osu_put_latency": "MPI_Put"}
"""Last lines of programs that the page lists as not running: a call that does not exist."""


@pytest.fixture(name="written", scope="module")
def fixture_written() -> set[str]:
    """Names of the calls that are done."""
    return {one.name for one in table() if one.handler} | LOCAL.keys()


@pytest.mark.parametrize("program", OSU)
def test_every_call_of_a_program_is_in_the_table(program: str, written: set[str]) -> None:
    assert OSU[program] <= written


@pytest.mark.parametrize("program", ENDS)
def test_a_program_of_later_mpi_ends_at_the_missing_call(program: str, written: set[str]) -> None:
    assert ENDS[program] not in written
    assert ENDS[program] in {one.name for one in table()}
