"""Predictions of rows from points that are conditioned on the other tables only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tb.calibrate.emulate import Emulator, Failures
from tb.calibrate.match import LIMIT, Match, Observation
from tb.calibrate.space import Array

INSIDE = 0.9
"""Probability of an interval."""


@dataclass(frozen=True)
class Prediction:
    """Prediction of one row from the other tables, on the scale of its score.

    Attributes:
        row: Published score.
        best: Median of the prediction.
        low: Lower end of the interval of 90 %.
        high: Upper end.
        q2: Accuracy of the emulator.
    """

    row: Observation
    best: float
    low: float
    high: float
    q2: float

    @property
    def inside(self) -> bool:
        """True if the published score lies in the interval."""
        return self.low <= self.row.published <= self.high

    @property
    def error(self) -> float:
        """Error of the median relative to the published score; infinite for a published score of 0."""
        return abs(self.best - self.row.published) / abs(self.row.published) if self.row.published else np.inf


def predict(row: Observation, emulator: Emulator, shares: Array, seed: int) -> Prediction:
    """Return the prediction of a row from points of equal weight.

    The interval includes the emulator's error, the model's discrepancy, and the rounding of the published value.

    Args:
        row: Row.
        emulator: Emulator of its score.
        shares: Points, one a row.
        seed: Seed of the errors.
    """
    mean, deviation = emulator.predict(shares)
    drawn = mean + np.sqrt(deviation**2 + row.variance) * np.random.default_rng(seed).normal(size=len(mean))
    low, high = np.quantile(drawn, [(1 - INSIDE) / 2, (1 + INSIDE) / 2])
    return Prediction(row, float(np.median(mean)), float(low), float(high), emulator.q2)


def held_out(
    rows: Sequence[Observation], emulators: Mapping[str, Emulator], failures: Failures, size: int, seed: int
) -> list[Prediction]:
    """Return the prediction of each row from the conditioning rows of the other tables, in the order of `rows`.

    Args:
        rows: All rows of the family.
        emulators: Emulators by name of a row; rows without one are left out.
        failures: Classifier of failing points.
        size: Number of dimensions.
        seed: Seed of the draws.
    """
    known = [row for row in rows if row.name in emulators]
    samples: dict[tuple[str, ...], Array] = {}
    found = []
    for row in known:
        others = [one for one in known if one.train and one.table != row.table]
        key = tuple(one.name for one in others)
        if key not in samples:
            samples[key] = Match(others, [emulators[one.name] for one in others], failures).sample(size, seed)
        found.append(predict(row, emulators[row.name], samples[key], seed))
    return found


def coverage(found: Sequence[Prediction]) -> float:
    """Return the share of the rows whose published score lies in its interval; NaN without rows."""
    return sum(one.inside for one in found) / len(found) if found else float("nan")


def unmet(rows: Sequence[Observation], scores: Mapping[str, Array], match: Match, size: int, seed: int) -> list[str]:
    """Return the conditioning rows that no point meets, alone or together with the others.

    A row is met alone if a run or an emulated candidate is plausible for it. If each is met alone and no point is
    plausible for all, the rows without which a plausible point exists are returned.

    Args:
        rows: Conditioning rows, in the order of `match.rows`.
        scores: Scores of the runs by name of a row.
        match: Emulators of the rows.
        size: Number of dimensions.
        seed: Seed of the candidates.
    """
    alone = []
    for at, row in enumerate(rows):
        own = Match([row], [match.emulators[at]], match.failures)
        runs = scores[row.name][np.isfinite(scores[row.name])]
        best = [*np.abs(runs - row.published) / row.variance**0.5, *own.worst(own.sample(size, seed))]
        if min(best) > LIMIT:
            alone.append(row.name)
    if alone or _plausible(match, size, seed):
        return alone
    found = []
    for at, row in enumerate(rows):
        others = [one for one in range(len(rows)) if one != at]
        rest = Match([rows[one] for one in others], [match.emulators[one] for one in others], match.failures)
        if _plausible(rest, size, seed):
            found.append(row.name)
    return found or [row.name for row in rows]


def _plausible(match: Match, size: int, seed: int) -> bool:
    """Return True if a point is plausible for all rows of a match."""
    return bool((match.worst(match.sample(size, seed)) <= LIMIT).any())
