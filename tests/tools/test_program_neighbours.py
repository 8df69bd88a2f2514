"""Topologies of programs: neighbourhood collectives, graphs with distributed edges, factors of MPICH.

Strategy: ranks check the data of their neighbours, in grids in which two neighbours are one rank and in graphs with
directed edges. If MPICH is installed, its MPI_Dims_create is compared for all numbers.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tb.program.mpi.topologies import balanced
from tests.tools.program_bench import main, run

DIMS = """
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    for (int dims = 1; dims <= 4; dims++)
        for (int nodes = 1; nodes <= 1000; nodes++) {
            int sizes[4] = {0};
            MPI_Dims_create(nodes, dims, sizes);
            printf("%d %d", nodes, dims);
            for (int at = 0; at < dims; at++) printf(" %d", sizes[at]);
            puts("");
        }
    MPI_Finalize();
}
"""


@pytest.mark.parametrize("non_blocking", [False, True])
def test_neighbours_of_a_grid_exchange_their_data(non_blocking: bool, tmp_path: Path) -> None:
    wait = ", &request); MPI_Wait(&request, &status" if non_blocking else ""
    prefix = "MPI_Ineighbor" if non_blocking else "MPI_Neighbor"
    body = f"""
    MPI_Comm grid; MPI_Request request; int sizes[2] = {{2, 2}}, periods[2] = {{1, 0}}, number, at[2], all[4], out[4];
    MPI_Cart_create(MPI_COMM_WORLD, 2, sizes, periods, 0, &grid);
    MPI_Comm_rank(grid, &number);
    MPI_Cart_coords(grid, number, 2, at);
    for (int one = 0; one < 4; one++) {{ out[one] = 10 * number + one; all[one] = -1; }}
    {prefix}_alltoall(out, 1, MPI_INT, all, 1, MPI_INT, grid{wait});
    int beside = 2 * (1 - at[0]) + at[1], along = 2 * at[0] + 1 - at[1];
    MUST(all[0] == 10 * beside + 1 && all[1] == 10 * beside);
    MUST(all[2] == (at[1] ? 10 * along + 3 : -1) && all[3] == (at[1] ? -1 : 10 * along + 2));
    {prefix}_allgather(&number, 1, MPI_INT, all, 1, MPI_INT, grid{wait});
    MUST(all[0] == beside && all[1] == beside && all[at[1] ? 2 : 3] == along);
    """
    run(tmp_path, main(body), ranks=4)


def test_edges_of_a_distributed_graph_are_known_where_they_end(tmp_path: Path) -> None:
    body = """
    MPI_Comm graph; int degree = rank ? 0 : 3, next = (rank + 1) % 3, weighted, in, out, status_of;
    int sources[3] = {0, 1, 2}, degrees[3] = {2, 1, 1}, targets[4] = {1, 2, 2, 0}, weights[4] = {5, 6, 7, 8};
    int firsts[3] = {5, 7, 8}, from[2], to[2], from_weights[2], to_weights[2], all[2] = {-1, -1};
    MPI_Dist_graph_create(MPI_COMM_WORLD, degree, sources, degrees, targets, weights, MPI_INFO_NULL, 0, &graph);
    MPI_Dist_graph_neighbors_count(graph, &in, &out, &weighted);
    MUST(weighted && in == (rank == 2 ? 2 : 1) && out == (rank ? 1 : 2));
    MPI_Dist_graph_neighbors(graph, 2, from, from_weights, 2, to, to_weights);
    MUST(from[0] == (rank == 1 ? 0 : rank ? 0 : 2) && to[0] == next && to_weights[0] == firsts[rank]);
    MUST(rank != 2 || (from[1] == 1 && from_weights[0] == 6 && from_weights[1] == 7));
    MPI_Topo_test(graph, &status_of);
    MUST(status_of == MPI_DIST_GRAPH);
    int counts[2] = {1, 1}, places[2] = {1, 0};
    MPI_Neighbor_allgatherv(&rank, 1, MPI_INT, all, counts, places, MPI_INT, graph);
    MUST(all[1] == from[0] && (rank != 2 || all[0] == 1));
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, from, MPI_UNWEIGHTED, 0, to, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                   &graph);
    MPI_Dist_graph_neighbors_count(graph, &in, &out, &weighted);
    MUST(!weighted && in == 1 && !out);
    """
    run(tmp_path, main(body), ranks=3)


@pytest.mark.skipif(shutil.which("mpicc.mpich") is None, reason="mpicc.mpich is not installed")
def test_factors_equal_those_of_mpich(tmp_path: Path) -> None:
    (tmp_path / "dims.c").write_text(DIMS, encoding="utf-8")
    subprocess.check_call(["mpicc.mpich", "-o", tmp_path / "dims", tmp_path / "dims.c"])
    said = subprocess.check_output([tmp_path / "dims"], encoding="utf-8", timeout=120)
    for nodes, dims, *sizes in (map(int, line.split()) for line in said.splitlines()):
        assert balanced(nodes, dims) == sizes
