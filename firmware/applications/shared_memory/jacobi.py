"""Jacobi: each point becomes the mean of its neighbours; new values stay private until all have read the old ones.

The measured time contains a barrier before and one after the iterations, as the 202 barriers of paper 001, Table 5.1.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from firmware.applications.shared_memory.program import Program, Size, blocks, grid_pages, grid_scaled, share
from firmware.tmk.host import Tmk

NS = 399.7
"""Computing time of a point and iteration, both sweeps, ns: derived from 41.75 s of Table 5.1's speed-up (an input)."""
COPIED = 0.25
"""Share of the second sweep in that time (ours)."""


def beginning(size: Size) -> NDArray[np.float32]:
    """Return the initial grid: zeros with a border of ones."""
    grid = np.ones((size.rows, size.columns), np.float32)
    grid[1:-1, 1:-1] = 0
    return grid


def averaged(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the rows without the first and the last, one iteration later."""
    new: NDArray[np.float32] = rows[1:-1].copy()
    new[:, 1:-1] = np.float32(0.25) * (rows[:-2, 1:-1] + rows[2:, 1:-1] + rows[1:-1, :-2] + rows[1:-1, 2:])
    return new


async def jacobi(tmk: Tmk, size: Size) -> NDArray[Any]:
    """Run one process. Return its part of the grid."""
    grid = await tmk.array(size.rows, size.columns, np.float32)
    if tmk.proc_id == 0:
        await grid.store(0, beginning(size))
    await tmk.barrier(0)  # process 0's time for the initial data is not measured
    tmk.account.open()
    await tmk.barrier(0)
    first, last = share(size.rows - 2, tmk)
    for _ in range(size.rounds):
        new = []
        for begin, end in blocks(first + 1, last + 1):
            await tmk.poll()
            rows = await grid.load(begin - 1, end + 1)
            await tmk.process.compute((end - begin) * (size.columns - 2) * size.ns * (1 - COPIED))
            new.append(averaged(rows))
        await tmk.barrier(0)
        for (begin, end), values in zip(blocks(first + 1, last + 1), new, strict=True):
            await tmk.process.compute((end - begin) * (size.columns - 2) * size.ns * COPIED)
            await grid.store(begin, values)
        await tmk.barrier(1)
    await tmk.barrier(0)  # of Tmk_exit
    tmk.account.close()
    return await grid.load(first + (tmk.proc_id > 0), last + 1 + (tmk.proc_id == tmk.nprocs - 1))


def alone(size: Size) -> NDArray[Any]:
    """Return the grid computed sequentially."""
    grid = beginning(size)
    for _ in range(size.rounds):
        grid[1:-1] = averaged(grid)
    return grid


SIZES = tuple(Size(edge, edge, 100, NS) for edge in (502, 1024, 1502, 2002))
JACOBI = Program(jacobi, alone, SIZES, 1, grid_scaled, grid_pages)
