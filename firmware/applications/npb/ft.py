"""FT, class S: a partial differential equation by Fourier transforms of a cube distributed over the ranks in slabs.

A transform covers the two axes that are complete at a rank; an all-to-all exchange turns the slabs for the third.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from firmware.applications.npb.node import Node, Verified
from pymodels.errors import SanlabError
from pymodels.npb.generator import numbers

SIDE = 64
POINTS = SIDE**3
ITERATIONS = 6
ALPHA = 1e-6
CHECKED = 1024
"""Number of points in the checksum."""
CHECKSUMS = (
    (5.546087004964e2, 4.845363331978e2),
    (5.546385409189e2, 4.865304269511e2),
    (5.546148406171e2, 4.883910722336e2),
    (5.545423607415e2, 4.901273169046e2),
    (5.544255039624e2, 4.917475857993e2),
    (5.542683411902e2, 4.932597244941e2),
)
"""Real and imaginary part of the published checksum, by iteration."""
PUBLISHED: Mapping[str, float] = MappingProxyType(
    {
        f"{part} part {iteration}": checksum[at]
        for iteration, checksum in enumerate(CHECKSUMS, 1)
        for at, part in enumerate(("real", "imaginary"))
    }
)

Cube = NDArray[np.complex128]


async def ft(node: Node) -> Verified:
    """Run one rank; the number of ranks divides 64. Operations are floating-point operations, as NPB counts."""
    if SIDE % node.size:
        raise SanlabError("FT", f"{node.size} ranks do not divide a cube of {SIDE} planes", "use 1, 2, 4 ... 64 hosts")
    slab = node.share(SIDE)
    state = await _turned(node, np.fft.fftn(_initial(slab), axes=(1, 2)))
    state = np.fft.fft(state, axis=0)
    frequencies = ((np.arange(SIDE) + SIDE // 2) % SIDE - SIDE // 2) ** 2
    squares = frequencies[:, None, None] + frequencies[:, None] + frequencies[slab.start : slab.stop]
    step = np.exp(-4 * ALPHA * np.pi**2 * squares)
    await node.compute((14.8157 + 7.19641 * np.log(POINTS)) * POINTS / node.size)
    computed = {}
    for iteration in range(1, ITERATIONS + 1):
        state *= step
        await node.compute((5.23518 + 7.21113 * np.log(POINTS)) * POINTS / node.size)
        result = np.fft.ifftn(await _back(node, np.fft.ifft(state, axis=0)), axes=(1, 2))
        total = await _checksum(node, result, slab)
        computed[f"real part {iteration}"], computed[f"imaginary part {iteration}"] = total
    return Verified(computed, PUBLISHED, 1e-12)


def _initial(slab: range) -> Cube:
    """Return the random initial values of a slab's planes, axes z, y, x."""
    plane = 2 * SIDE * SIDE
    return numbers(plane * len(slab), skip=plane * slab.start).view(np.complex128).reshape(-1, SIDE, SIDE)


async def _turned(node: Node, cube: Cube) -> Cube:
    """Return the slab exchanged from planes of z to planes of x; axes z, y, x, with this rank's part of x."""
    parts = np.ascontiguousarray(np.stack(np.split(cube, node.size, axis=2)))
    return (await _exchanged(node, parts)).reshape(SIDE, SIDE, -1)


async def _back(node: Node, cube: Cube) -> Cube:
    """Return the slab exchanged from planes of x to planes of z."""
    parts = await _exchanged(node, cube.reshape(node.size, -1, SIDE, SIDE // node.size))
    return np.concatenate(list(parts), axis=2)


async def _exchanged(node: Node, parts: Cube) -> Cube:
    """Return the parts received from all ranks for the parts sent to them."""
    into = np.empty_like(parts)
    await node.comm.Alltoall(parts.view(np.float64), into.view(np.float64))
    return into


async def _checksum(node: Node, cube: Cube, slab: range) -> list[float]:
    """Return real and imaginary part of the sum over points spread through the cube."""
    at = np.arange(1, CHECKED + 1)
    x, y, z = at % SIDE, 3 * at % SIDE, 5 * at % SIDE
    mine = (z >= slab.start) & (z < slab.stop)
    own = cube[z[mine] - slab.start, y[mine], x[mine]].sum()
    total = np.empty(2)
    await node.comm.Reduce(np.array([own.real, own.imag]), total)
    await node.comm.Bcast(total)
    return [float(one) for one in total]
