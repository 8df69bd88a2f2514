"""EP, class S: pairs of Gaussian deviates, counted by squares; ranks communicate only at the end."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from firmware.applications.npb.node import Node, Verified
from pymodels.npb.generator import numbers

PAIRS = 1 << 24
BATCH = 1 << 16
SEED = 271_828_183
SQUARES = 10
PUBLISHED = {"sx": -3.247834652034740e3, "sy": -6.958407078382297e3}


async def ep(node: Node) -> Verified:
    """Run one rank. An operation is a random number, as NPB counts."""
    sums, counts = np.zeros(2), np.zeros(SQUARES)
    batches = node.share(PAIRS // BATCH)
    for batch in batches:
        deviates = _deviates(2 * numbers(2 * BATCH, SEED, 2 * BATCH * batch).reshape(-1, 2) - 1)
        sums += deviates.sum(axis=0)
        counts += np.bincount(np.abs(deviates).max(axis=1).astype(int), minlength=SQUARES)
    await node.compute(2 * BATCH * len(batches))
    result = [np.empty_like(part) for part in (sums, counts)]
    for mine, total in zip((sums, counts), result, strict=True):
        await node.comm.Allreduce(mine, total)
    (sx, sy), squares = result
    pairs = float(squares.sum())
    return Verified({"sx": float(sx), "sy": float(sy), "pairs": pairs}, {**PUBLISHED, "pairs": 13_176_389.0}, 1e-8)


def _deviates(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the Gaussian deviates of the points that lie in the unit circle."""
    square = (points**2).sum(axis=1)
    inside = square <= 1
    square = square[inside, None]
    scaled: NDArray[np.float64] = points[inside] * np.sqrt(-2 * np.log(square) / square)
    return scaled
