"""Designs of points in the unit cube: Latin hypercube, Sobol sequence, and a spread choice from candidates."""

from __future__ import annotations

import math

import numpy as np
from scipy.stats import qmc

from pymodels.errors import ConfigError
from tb.calibrate.space import Array

METHODS = ("latin", "sobol")


def points(method: str, count: int, size: int, seed: int) -> Array:
    """Return `count` points of `size` dimensions in the unit cube. The same seed gives the same points.

    Args:
        method: `latin` or `sobol`.
        count: Number of points.
        size: Number of dimensions.
        seed: Seed of the draw.

    Raises:
        ConfigError: The method is unknown.
    """
    if method == "latin":
        return np.asarray(qmc.LatinHypercube(size, rng=seed).random(count))
    if method == "sobol":
        sampler = qmc.Sobol(size, rng=seed)
        return np.asarray(sampler.random_base2(max(math.ceil(math.log2(max(count, 1))), 0)))[:count]
    raise ConfigError("--design", 0, "unknown design", repr(method), f"choose {' or '.join(METHODS)}")


def spread(candidates: Array, known: Array, count: int) -> Array:
    """Return up to `count` candidates, each as far as possible from known points and from those chosen before.

    Args:
        candidates: Points to choose from, one a row.
        known: Points that are not chosen again, one a row; may be empty.
        count: Number of points.
    """
    if not len(candidates):
        return candidates
    far = np.full(len(candidates), np.inf)
    for point in known:
        far = np.minimum(far, ((candidates - point) ** 2).sum(axis=1))
    chosen: list[int] = []
    while len(chosen) < min(count, len(candidates)):
        best = int(np.argmax(far))
        if far[best] <= 0:
            break
        chosen.append(best)
        far = np.minimum(far, ((candidates - candidates[best]) ** 2).sum(axis=1))
    return candidates[chosen]
