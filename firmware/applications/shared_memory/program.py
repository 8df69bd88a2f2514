"""What the programs have in common: sizes, shares, what computing costs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from firmware.tmk.host import Tmk
from firmware.tmk.host.shared import row_bytes
from pymodels.host import PAGE

BLOCK = 16
"""Rows that are read, computed and written at once."""


@dataclass(frozen=True)
class Size:
    """Of a problem."""

    rows: int
    """SOR, Jacobi: rows of the grid; FFT: points along an edge; TSP: cities."""
    columns: int = 0
    rounds: int = 1
    """Iterations, or transforms."""
    ns: float = 0.0
    """Computing: SOR, Jacobi: a point and iteration; FFT: a transform; TSP: a step of the search."""
    seed: int = 1


@dataclass(frozen=True)
class Program:
    """A program of shared memory."""

    run: Callable[[Tmk, Size], Awaitable[NDArray[Any]]]
    """What one process does between `startup` and `exit`; its part of the result, read from its pages."""
    alone: Callable[[Size], NDArray[Any]]
    """The result as a sequential program without shared memory computes it."""
    sizes: tuple[Size, ...]
    """Those of paper 001, 5.5.4, from A to D."""
    usual: int
    """Which of them Table 5.1 has."""
    scaled: Callable[[Size, int], Size]
    """A size of which a part is left, for a divisor: work, faults and cold pages a barrier stay as they are."""
    pages: Callable[[Size], int]
    """Of shared memory that it needs, at most."""
    joined: Callable[[list[NDArray[Any]]], NDArray[Any]] = np.concatenate
    """The result from the parts of all processes."""


def share(count: int, tmk: Tmk) -> tuple[int, int]:
    """(first, behind the last) of what is this process's of so many, in order."""
    return count * tmk.proc_id // tmk.nprocs, count * (tmk.proc_id + 1) // tmk.nprocs


def blocks(first: int, last: int) -> Iterator[tuple[int, int]]:
    """A range in pieces of BLOCK at most."""
    for begin in range(first, last, BLOCK):
        yield begin, min(begin + BLOCK, last)


def grid_pages(size: Size) -> int:
    """Of a grid in single precision."""
    return size.rows * row_bytes(size.columns, np.float32) // PAGE


def grid_scaled(size: Size, by: int) -> Size:
    """Rows / s, iterations / s, time a point x s."""
    return Size(size.rows // by, size.columns, -(-size.rounds // by), size.ns * by, size.seed)
