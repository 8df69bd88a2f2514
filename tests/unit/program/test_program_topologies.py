"""Factors of MPI_Dims_create, and places of a grid.

Strategy: values that the standard's text gives, and every rank of a small grid there and back.
"""

from __future__ import annotations

import hashlib

import pytest

from firmware.mpi.host.errors import Misuse
from firmware.mpi.host.status import PROC_NULL
from tb.program.mpi.topologies import Grid, balanced

DIGEST = "fdaee4583e60ed4186f0ef91f74483964068d7f10969eed8dedb4c96e5b199b4"


@pytest.mark.parametrize(
    ("nodes", "dims", "found"),
    [(6, 2, [3, 2]), (7, 2, [7, 1]), (6, 3, [3, 2, 1]), (16, 2, [4, 4]), (27, 3, [3, 3, 3]), (5, 1, [5]), (1, 0, [])],
)
def test_dimensions_are_as_equal_as_possible(nodes: int, dims: int, found: list[int]) -> None:
    assert balanced(nodes, dims)[: len(found)] == found


def test_factors_are_those_of_mpich_for_all_numbers_to_1000() -> None:
    """Compare with a digest of the output of MPI_Dims_create of MPICH 4.0.2; tools/test_program_neighbours.py
    runs MPICH.
    """
    every = [(nodes, dims) for dims in range(1, 5) for nodes in range(1, 1001)]
    lines = [f"{nodes} {dims}: {' '.join(map(str, balanced(nodes, dims)))}\n" for nodes, dims in every]
    assert hashlib.sha256("".join(lines).encode()).hexdigest() == DIGEST


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
