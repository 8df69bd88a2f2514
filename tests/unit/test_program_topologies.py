"""Factors of MPI_Dims_create, and places of a grid.

Strategy: values that the standard's text gives, and every rank of a small grid there and back.
"""

from __future__ import annotations

import pytest

from firmware.host.mpi.errors import Misuse
from firmware.host.mpi.status import PROC_NULL
from tb.program.mpi.topologies import Grid, balanced


@pytest.mark.parametrize(
    ("nodes", "dims", "found"),
    [(6, 2, [3, 2]), (7, 2, [7, 1]), (6, 3, [3, 2, 1]), (16, 2, [4, 4]), (27, 3, [3, 3, 3]), (5, 1, [5]), (1, 0, [])],
)
def test_dimensions_are_as_near_to_each_other_as_can_be(nodes: int, dims: int, found: list[int]) -> None:
    assert balanced(nodes, dims)[: len(found)] == found


def test_each_rank_of_a_grid_is_found_again_at_its_place() -> None:
    grid = Grid([2, 3, 2], [False] * 3)
    assert [grid.number(grid.coords(one)) for one in range(12)] == list(range(12))
    assert grid.coords(7) == [1, 0, 1]


def test_only_a_periodic_dimension_wraps_around() -> None:
    grid = Grid([2, 3], [False, True])
    assert grid.beside(0, 1, -1) == 2
    assert grid.beside(0, 0, -1) == PROC_NULL
    with pytest.raises(Misuse, match="coordinate 2"):
        grid.number([2, 0])
