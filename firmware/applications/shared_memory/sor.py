"""SOR: red-black relaxation of a grid in single precision. A row is a page: its red points, then its black ones."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from firmware.applications.shared_memory.program import Program, Size, blocks, grid_pages, grid_scaled, share
from firmware.tmk.host import Tmk

NS = 91.1
"""Computing time of a point and iteration, ns: derived from 1.82 s of Table 5.1's speed-up (an input)."""


def beginning(size: Size) -> NDArray[np.float32]:
    """Return the initial grid: random numbers by seed."""
    return np.random.default_rng(size.seed).random((size.rows, size.columns), np.float32)


def relaxed(rows: NDArray[np.float32], first: int, colour: int) -> NDArray[np.float32]:
    """Return the rows without the first and the last, relaxed in one colour; `first` is the number of the first row."""
    half = rows.shape[1] // 2
    new: NDArray[np.float32] = rows[1:-1].copy()
    other = rows[:, half:] if colour == 0 else rows[:, :half]
    for at in range(len(new)):
        here, above, below = other[at + 1], other[at], other[at + 2]
        if (first + 1 + at + colour) % 2 == 0:  # its points are left of the other colour's points of the same number
            inner, beside = slice(1, half), here[:-1] + here[1:]
        else:
            inner, beside = slice(0, half - 1), here[:-1] + here[1:]
        begin = half * colour
        new[at, begin + inner.start : begin + inner.stop] = np.float32(0.25) * (beside + above[inner] + below[inner])
    return new


async def sor(tmk: Tmk, size: Size) -> NDArray[Any]:
    """Run one process. Return its part of the grid."""
    grid = await tmk.array(size.rows, size.columns, np.float32)
    if tmk.proc_id == 0:
        await grid.store(0, beginning(size))
    await tmk.barrier(0)
    tmk.account.open()
    first, last = share(size.rows - 2, tmk)
    for half in range(2 * size.rounds):
        for begin, end in blocks(first + 1, last + 1):
            await tmk.poll()
            rows = await grid.load(begin - 1, end + 1)
            await tmk.process.compute((end - begin) * size.columns / 2 * size.ns)
            await grid.store(begin, relaxed(rows, begin - 1, half % 2))
        await tmk.barrier(0)
    tmk.account.close()
    return await grid.load(first + (tmk.proc_id > 0), last + 1 + (tmk.proc_id == tmk.nprocs - 1))


def alone(size: Size) -> NDArray[Any]:
    """Return the grid computed sequentially."""
    grid = beginning(size)
    for half in range(2 * size.rounds):
        grid[1:-1] = relaxed(grid, 0, half % 2)
    return grid


SIZES = tuple(Size(2000, columns, 10, NS) for columns in (1000, 2000, 3000, 4000))
SOR = Program(sor, alone, SIZES, 0, grid_scaled, grid_pages)
