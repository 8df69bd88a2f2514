"""Functions with known answers, which replace the runs of a family."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from tb.calibrate.match import Observation
from tb.calibrate.space import Array

SIZE = 4
"""Dimensions of the functions; the last has no effect."""
FUNCTIONS: dict[str, Callable[[Array], Array]] = {
    "time": lambda x: 10 + 4 * x[:, 0] + 2 * x[:, 1],
    "rate": lambda x: 80 - 20 * x[:, 0] + 5 * np.sin(3 * x[:, 1]),
    "gain": lambda x: 1 + x[:, 1] * x[:, 2],
    "peak": lambda x: 50 + 10 * x[:, 2] ** 2 - 6 * x[:, 0],
}


def observations(truth: Array, offset: Mapping[str, float] = {}, sd: float = 0.02) -> list[Observation]:
    """Return the published scores of a known point: `gain` is a test, all others condition."""
    found = []
    for name, function in FUNCTIONS.items():
        value = float(function(truth[None, :])[0]) + offset.get(name, 0.0)
        found.append(Observation(name, f"Table {name}", name != "gain", value, sd, 0.01 * abs(value)))
    return found


def evaluate(shares: Array, label: str) -> tuple[dict[str, Array], list[str]]:
    """Return the scores of all functions; every point passes."""
    return {name: function(shares) for name, function in FUNCTIONS.items()}, [""] * len(shares)


def failing(above: float, asked: list[Array]) -> Callable[[Array, str], tuple[Mapping[str, Array], Sequence[str]]]:
    """Return an evaluation that fails where the first value is above a limit, and keeps the points in `asked`."""

    def found(shares: Array, label: str) -> tuple[Mapping[str, Array], Sequence[str]]:
        asked.append(shares)
        scores, _ = evaluate(shares, label)
        failed = shares[:, 0] > above
        told = {name: np.where(failed, np.nan, values) for name, values in scores.items()}
        return told, ["the run hangs" if one else "" for one in failed]

    return found
