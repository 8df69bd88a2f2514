"""MG, class S: a Poisson problem on a periodic cube by V cycles of a multigrid method, the cube divided among the
ranks.

Each array has a border of one point that belongs to the neighbours. On every level ranks exchange faces with both
neighbours of each axis, in an order that carries edges and corners along (NPB 2.3). There are at most two ranks along
an axis, so that each rank has points on the coarsest level, which is two points wide.
"""

from __future__ import annotations

from itertools import product

import numpy as np
from numpy.typing import NDArray

from firmware.applications.npb.node import Node, Verified
from pymodels.errors import SanlabError
from pymodels.npb.generator import numbers
from pymodels.npb.mg import torus

LEVELS = 5
SIDE = 1 << LEVELS
ITERATIONS = 4
CHARGES = 10
"""Number of points of the right side with value 1, and with -1: at the largest and the smallest random numbers."""
RNM2 = 0.530770700573e-4
RESIDUAL = (-8 / 3, 0.0, 1 / 6, 1 / 12)
SMOOTH = (-3 / 8, 1 / 32, -1 / 64, 0.0)
RESTRICT = (1 / 2, 1 / 4, 1 / 8, 1 / 16)
"""Weights of a point's neighbours, by the number of axes along which they differ."""
OPERATIONS = 58 * 7 / 8
"""Operations of a point of each level and cycle: 58 a point of the finest level, as NPB counts, and a seventh for the
coarser ones.
"""
UP, DOWN = 1, 2
"""Message tags."""

Cube = NDArray[np.float64]
"""Array with axes z, y, x and a border."""


async def mg(node: Node) -> Verified:
    """Run one rank of 1, 2, 4 or 8."""
    torus_part = _Part(node)
    right = await torus_part.right_side()
    solution = np.zeros_like(right)
    residual = await torus_part.residual(solution, right)
    for _ in range(ITERATIONS):
        await torus_part.cycle(solution, right, residual)
        residual = await torus_part.residual(solution, right)
    total = np.empty(1)
    await node.comm.Allreduce(np.array([(_inner(residual) ** 2).sum()]), total)
    return Verified({"rnm2": float(np.sqrt(total[0] / SIDE**3))}, {"rnm2": RNM2}, 1e-8)


class _Part:
    """Part of the cube at one rank."""

    def __init__(self, node: Node) -> None:
        if node.size not in (1, 2, 4, 8):
            raise SanlabError("MG", f"{node.size} ranks cannot divide the cube", "use 1, 2, 4 or 8 hosts")
        self.node = node
        self._shape = torus(node.size)[::-1]  # of z, y, x
        self._at = np.unravel_index(node.rank, self._shape)

    async def right_side(self) -> Cube:
        """Return the right side of the equation. Every rank draws all numbers and uses its own."""
        drawn = numbers(SIDE**3).reshape(SIDE, SIDE, SIDE)
        own = [
            range(at * SIDE // ranks, (at + 1) * SIDE // ranks) for at, ranks in zip(self._at, self._shape, strict=True)
        ]
        mine = drawn[np.ix_(*own)]
        order = np.argsort(mine, axis=None)
        ends = mine.ravel()[np.concatenate([order[:CHARGES], order[-CHARGES:]])]
        every = np.empty((self.node.size, 2 * CHARGES))
        await self.node.comm.Allgather(ends, every)
        ranked = np.sort(every, axis=None)
        result = np.zeros([2 + len(axis) for axis in own])
        _inner(result)[mine >= ranked[-CHARGES]] = 1
        _inner(result)[mine <= ranked[CHARGES - 1]] = -1
        await self._borders(result)
        return result

    async def cycle(self, solution: Cube, right: Cube, residual: Cube) -> None:
        """Improve `solution` by a V cycle: restrict the residual to the coarsest level, then interpolate back."""
        residuals = [residual]
        while len(residuals) < LEVELS:
            residuals.append(await self._restricted(residuals[-1]))
        correction = np.zeros_like(residuals[-1])
        await self._smooth(correction, residuals[-1])
        for coarse in residuals[-2:0:-1]:
            finer = np.zeros_like(coarse)
            _interpolate(correction, finer)
            correction = finer
            await self._smooth(correction, await self.residual(correction, coarse))
        _interpolate(correction, solution)
        await self._smooth(solution, await self.residual(solution, right))

    async def residual(self, solution: Cube, right: Cube) -> Cube:
        """Return the right side minus the operator times the solution."""
        result = np.zeros_like(right)
        _inner(result)[:] = _inner(right) - _stencil(solution, RESIDUAL)
        await self._borders(result)
        return result

    async def _smooth(self, solution: Cube, residual: Cube) -> None:
        _inner(solution)[:] += _stencil(residual, SMOOTH)
        await self.node.compute(OPERATIONS * _inner(solution).size)
        await self._borders(solution)

    async def _restricted(self, fine: Cube) -> Cube:
        """Return the next coarser level: every second point, weighted with its neighbours."""
        result = np.zeros([2 + (length - 2) // 2 for length in fine.shape])
        _inner(result)[:] = _stencil(fine, RESTRICT)[1::2, 1::2, 1::2]
        await self._borders(result)
        return result

    async def _borders(self, cube: Cube) -> None:
        """Receive the border from the neighbours, axis by axis: x, y, z."""
        for axis in (2, 1, 0):
            planes = np.moveaxis(cube, axis, 0)
            ranks = self._shape[axis]
            if ranks == 1:
                planes[0], planes[-1] = planes[-2], planes[1]
                continue
            above, below = (self._neighbour(axis, step) for step in (1, -1))
            comm, into = self.node.comm, np.empty(planes.shape[1:])
            await comm.Sendrecv(np.ascontiguousarray(planes[-2]), above, UP, into, below, UP)
            planes[0] = into
            await comm.Sendrecv(np.ascontiguousarray(planes[1]), below, DOWN, into, above, DOWN)
            planes[-1] = into

    def _neighbour(self, axis: int, step: int) -> int:
        at = list(self._at)
        at[axis] = (at[axis] + step) % self._shape[axis]
        return int(np.ravel_multi_index(at, self._shape))


def _inner(cube: Cube) -> Cube:
    """Return the array without its border."""
    return cube[1:-1, 1:-1, 1:-1]


def _stencil(cube: Cube, weights: tuple[float, ...]) -> Cube:
    """Return each point inside the border combined with its 26 neighbours."""
    result = np.zeros([length - 2 for length in cube.shape])
    for offsets in product((0, 1, 2), repeat=3):
        weight = weights[sum(offset != 1 for offset in offsets)]
        if weight:
            part = tuple(slice(o, o + n) for o, n in zip(offsets, result.shape, strict=True))
            result += weight * cube[part]
    return result


def _interpolate(coarse: Cube, fine: Cube) -> None:
    """Add the coarser level to the finer one; a point between two or more has their mean."""
    for odd in product((0, 1), repeat=3):
        between = coarse
        for axis, one in enumerate(odd):
            low, high = (np.take(between, range(s, coarse.shape[axis] - 1 + s), axis) for s in (0, 1))
            between = (low + high) / 2 if one else low
        fine[odd[0] :: 2, odd[1] :: 2, odd[2] :: 2] += between
