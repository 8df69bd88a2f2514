"""Sizes, shares and computing costs common to the programs."""

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
"""Number of rows read, computed and written at once."""


@dataclass(frozen=True)
class Size:
    """Size of a problem."""

    rows: int
    """SOR, Jacobi: rows of the grid; FFT: points along an edge; TSP: cities."""
    columns: int = 0
    rounds: int = 1
    """Number of iterations or transforms."""
    ns: float = 0.0
    """Computing time in ns of a point and iteration (SOR, Jacobi), a transform (FFT), or a step of the search (TSP)."""
    seed: int = 1


@dataclass(frozen=True)
class Program:
    """Program of shared memory."""

    run: Callable[[Tmk, Size], Awaitable[NDArray[Any]]]
    """Function of one process between `startup` and `exit`; returns its part of the result, read from its pages."""
    alone: Callable[[Size], NDArray[Any]]
    """Sequential computation of the result, without shared memory."""
    sizes: tuple[Size, ...]
    """Sizes A to D of paper 001, 5.5.4."""
    usual: int
    """Index of the size used in Table 5.1."""
    scaled: Callable[[Size, int], Size]
    """Function that scales a size by a divisor so that work, faults and cold pages a barrier stay constant."""
    pages: Callable[[Size], int]
    """Upper bound of the shared pages of a size."""
    joined: Callable[[list[NDArray[Any]]], NDArray[Any]] = np.concatenate
    """Function that joins the parts of all processes."""


def share(count: int, tmk: Tmk) -> tuple[int, int]:
    """Return (first, last + 1) of this process's part of `count` items."""
    return count * tmk.proc_id // tmk.nprocs, count * (tmk.proc_id + 1) // tmk.nprocs


def blocks(first: int, last: int) -> Iterator[tuple[int, int]]:
    """Yield a range in pieces of at most BLOCK."""
    for begin in range(first, last, BLOCK):
        yield begin, min(begin + BLOCK, last)


def grid_pages(size: Size) -> int:
    """Return the pages of a grid in single precision."""
    return size.rows * row_bytes(size.columns, np.float32) // PAGE


def grid_scaled(size: Size, by: int) -> Size:
    """Return the size with rows and iterations divided by `by`, and the time of a point multiplied."""
    return Size(size.rows // by, size.columns, -(-size.rounds // by), size.ns * by, size.seed)
