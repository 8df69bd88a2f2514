"""Sensitivity of scores to uncertain values by SALib, on emulators: Sobol indices and Morris effects."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from SALib.analyze import morris as morris_effects
from SALib.analyze import sobol as sobol_indices
from SALib.sample import morris as morris_points
from SALib.sample import sobol as sobol_points

from tb.calibrate.emulate import Emulator

POINTS = 256
"""Base points of the Sobol indices; a power of two."""
TRAJECTORIES = 32
SHOWN = 3


@dataclass(frozen=True)
class Rank:
    """Sensitivity of a score to one value: total Sobol index and mean absolute Morris effect."""

    name: str
    total: float
    effect: float


def ranks(emulator: Emulator, names: Sequence[str], seed: int) -> list[Rank]:
    """Return the values with the greatest total Sobol index, greatest first; none for a constant score.

    Args:
        emulator: Emulator of the score.
        names: Names of the dimensions.
        seed: Seed of the points.
    """
    problem = {"num_vars": len(names), "names": list(names), "bounds": [[0.0, 1.0]] * len(names)}
    places = sobol_points.sample(problem, POINTS, calc_second_order=False, seed=seed)
    told, _ = emulator.predict(places)
    if float(np.std(told)) == 0:
        return []
    with warnings.catch_warnings():  # SALib divides by the variance of a dimension without effect
        warnings.simplefilter("ignore", RuntimeWarning)
        indices = sobol_indices.analyze(problem, told, calc_second_order=False, seed=seed)
        walks = morris_points.sample(problem, TRAJECTORIES, seed=seed)
        effects = morris_effects.analyze(problem, walks, emulator.predict(walks)[0], seed=seed)
    found = [
        Rank(name, float(total), float(effect))
        for name, total, effect in zip(names, indices["ST"], effects["mu_star"], strict=True)
    ]
    return sorted(found, key=lambda one: -one.total)[:SHOWN]
