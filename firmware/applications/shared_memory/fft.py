"""3D FFT: transforms along two axes in each process's slab, an all-to-all exchange through shared pages, then along the
third axis.

The block that one process writes for another is contiguous. The measured time contains the barrier before the first
round, as the 33 barriers of paper 001, Table 5.1.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from firmware.applications.shared_memory.program import Program, Size, share
from firmware.tmk.host import Tmk
from pymodels.host import PAGE

NS = 35.1e6
"""Time of a transform of 32^3 points, ns (70 Mflop/s): derived from 0.561 s of Table 5.1's speed-up (an input)."""
MOST_PROCESSES = 128
POINT = 16
"""Bytes of a complex number."""


def beginning(size: Size, plane: int) -> NDArray[np.complex128]:
    """Return the initial plane: random numbers by seed."""
    rng = np.random.default_rng((size.seed, plane))
    return rng.random((size.rows, size.rows)) + 1j * rng.random((size.rows, size.rows))


async def fft(tmk: Tmk, size: Size) -> NDArray[Any]:
    """Run one process. Return its part of the last transform, shape (own rows, planes, columns)."""
    edge, procs = size.rows, tmk.nprocs
    columns = PAGE // POINT
    first, last = share(edge, tmk)
    bounds = [(edge * one // procs, edge * (one + 1) // procs) for one in range(procs)]
    pages = [-(-(last_of - first_of) * edge * edge * POINT // PAGE) for first_of, last_of in bounds]
    """Pages of each slab, block by block; blocks of a page or more start at a page."""
    shared = await tmk.array(sum(pages), columns, np.complex128)
    begins = [sum(pages[:one]) for one in range(procs)]
    tmk.account.open()
    await tmk.barrier(0)
    planes = [beginning(size, plane) for plane in range(first, last)]
    result = np.zeros((0, edge, edge), np.complex128)
    for number in range(size.rounds):
        slab = np.stack([np.fft.fft2(plane * (1 + number)) for plane in planes])
        await tmk.process.compute(size.ns * (last - first) / edge * 2 / 3)
        packed = np.concatenate([slab[:, low:high, :].ravel() for low, high in bounds])
        whole = np.zeros(pages[tmk.proc_id] * columns, np.complex128)
        whole[: packed.size] = packed
        await shared.store(begins[tmk.proc_id], whole.reshape(-1, columns))
        await tmk.barrier(0)
        mine = np.empty((last - first, edge, edge), np.complex128)
        for turn in range(procs):
            source = (tmk.proc_id + turn) % procs
            low, high = bounds[source]
            at, count = (high - low) * first * edge, (high - low) * (last - first) * edge
            page, skip = divmod(at, columns)
            rows = await shared.load(begins[source] + page, begins[source] + -(-(at + count) // columns))
            block = rows.ravel()[skip : skip + count].reshape(high - low, last - first, edge)
            mine[:, low:high, :] = block.transpose(1, 0, 2)
        result = np.stack([np.fft.fft(row, axis=0) for row in mine])
        await tmk.process.compute(size.ns * (last - first) / edge / 3)
        await tmk.barrier(1)
    tmk.account.close()
    return result


def alone(size: Size) -> NDArray[Any]:
    """Return the last transform computed by one call of numpy."""
    array = np.stack([beginning(size, plane) for plane in range(size.rows)]) * size.rounds
    whole: NDArray[Any] = np.fft.fftn(array).transpose(1, 0, 2)
    return whole


def rounds_scaled(size: Size, by: int) -> Size:
    """Return the size with its number of rounds divided by `by`."""
    return Size(size.rows, 0, -(-size.rounds // by), size.ns, size.seed)


def _sized(edge: int) -> Size:
    work = edge**3 * np.log2(edge) / (32**3 * 5)
    return Size(edge, 0, 16, NS * float(work))


def _pages(size: Size) -> int:
    return size.rows**3 * POINT // PAGE + MOST_PROCESSES


FFT = Program(fft, alone, tuple(map(_sized, (8, 16, 32, 64))), 2, rounds_scaled, _pages)
