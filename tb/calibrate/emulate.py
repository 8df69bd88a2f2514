"""Emulators: a fast prediction of one score at any point, with its uncertainty, learned from runs.

The mean is a ridge regression on all dimensions and their squares. A Gaussian process on the strongest dimensions
describes the rest. Folds that are left out measure the accuracy: Q2 is 1 for exact predictions and 0 for the mean.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import KFold

from tb.calibrate.space import Array

ACTIVE = 8
"""Maximum number of dimensions of a Gaussian process."""
FOLDS = 5
FEWEST = 8
"""Minimum number of runs of an emulator."""
ALPHAS = tuple(10.0**n for n in range(-6, 4))
"""Weights of the ridge, of which cross-validation chooses one."""


@dataclass(frozen=True)
class Emulator:
    """Prediction of one score.

    Attributes:
        q2: Share of the variance that predictions of left-out runs explain; 1 for a constant score.
        noise: Standard deviation of these predictions' errors, in the unit of the score.
        active: Indices of the dimensions of the Gaussian process, strongest first.
    """

    q2: float
    noise: float
    active: tuple[int, ...]
    _mean: Any
    _rest: Any
    _centre: float
    _scale: float

    def predict(self, shares: Array) -> tuple[Array, Array]:
        """Return mean and standard deviation of the score at some points, one a row."""
        if self._mean is None:
            return np.full(len(shares), self._centre), np.zeros(len(shares))
        mean, deviation = _predicted(self._mean, self._rest, self.active, shares)
        return self._centre + self._scale * mean, np.maximum(self._scale * deviation, self.noise)


def _features(shares: Array) -> Array:
    centred = 2 * shares - 1
    return np.hstack([centred, centred**2])


def _predicted(mean: Any, rest: Any, active: tuple[int, ...], shares: Array) -> tuple[Array, Array]:
    told = np.asarray(mean.predict(_features(shares)))
    if rest is None:
        return told, np.zeros(len(shares))
    more, deviation = rest.predict(shares[:, list(active)], return_std=True)
    return told + more, np.asarray(deviation)


def fit(shares: Array, scores: Array, seed: int) -> Emulator:
    """Return the emulator of one score.

    Args:
        shares: Positions of the runs, one a row.
        scores: Score of each run; infinite and NaN ones are left out.
        seed: Seed of the folds and of the optimiser.

    Raises:
        ValueError: Fewer than `FEWEST` runs have a finite score.
    """
    usable = np.isfinite(scores)
    shares, scores = shares[usable], scores[usable]
    if len(scores) < FEWEST:
        raise ValueError(f"{len(scores)} runs with a score, but an emulator needs {FEWEST}")
    centre, scale = float(scores.mean()), float(scores.std())
    if scale <= 1e-9 * max(abs(centre), 1e-12):
        return Emulator(1.0, 0.0, (), None, None, centre, 0.0)
    wanted = (scores - centre) / scale
    mean, rest, active = _fitted(shares, wanted, seed, None)
    kernel = rest.kernel_ if rest is not None else None
    errors = np.empty(len(wanted))
    for learned, left_out in KFold(FOLDS, shuffle=True, random_state=seed).split(shares):
        told = _fitted(shares[learned], wanted[learned], seed, kernel, active)
        errors[left_out] = _predicted(*told[:2], active, shares[left_out])[0] - wanted[left_out]
    spoiled = float(np.mean(errors**2))
    return Emulator(1 - spoiled, scale * spoiled**0.5, active, mean, rest, centre, scale)


def _fitted(
    shares: Array, wanted: Array, seed: int, kernel: Any, active: tuple[int, ...] | None = None
) -> tuple[Any, Any, tuple[int, ...]]:
    """Return ridge, Gaussian process and its dimensions; a kernel that is given is kept as it is."""
    mean = RidgeCV(alphas=ALPHAS).fit(_features(shares), wanted)
    rest = wanted - mean.predict(_features(shares))
    if active is None:
        active = _strongest(mean, shares, rest)
    if float(rest.std()) < 1e-9:
        return mean, None, active
    optimizer = None if kernel is not None else "fmin_l_bfgs_b"
    if kernel is None:
        lengths = Matern(np.ones(len(active)), (0.1, 30.0), nu=2.5)
        kernel = ConstantKernel(float(rest.var()), (1e-6, 1e2)) * lengths + WhiteKernel(1e-3, (1e-8, 1.0))
    process = GaussianProcessRegressor(kernel, optimizer=optimizer, random_state=seed)
    with warnings.catch_warnings():  # a length at its bound means that the dimension has no further effect
        warnings.simplefilter("ignore", ConvergenceWarning)
        return mean, process.fit(shares[:, list(active)], rest), active


def _strongest(mean: Any, shares: Array, rest: Array) -> tuple[int, ...]:
    """Return the dimensions with the greatest effect on the ridge and the rest, strongest first."""
    size = shares.shape[1]
    effect = np.abs(mean.coef_[:size]) + np.abs(mean.coef_[size:])
    steps = np.floor(np.clip(shares, 0, 1 - 1e-9) * 4).astype(int)
    for at in range(size):
        means = [rest[steps[:, at] == step].mean() for step in range(4) if (steps[:, at] == step).any()]
        effect[at] += float(np.std(means))
    return tuple(int(at) for at in np.argsort(-effect)[:ACTIVE])


@dataclass(frozen=True)
class Failures:
    """Classifier of the points at which runs fail. Without a failed run, no point is expected to fail."""

    _classes: Any

    def expected(self, shares: Array) -> NDBool:
        """Return True for each point at which a run is more likely to fail than to pass."""
        if self._classes is None:
            return np.zeros(len(shares), dtype=np.bool_)
        return np.asarray(self._classes.predict(shares), dtype=np.bool_)


NDBool = np.ndarray[Any, np.dtype[np.bool_]]


def learn_failures(shares: Array, failed: NDBool, seed: int) -> Failures:
    """Return the classifier of failing points from the outcomes of all runs."""
    if not failed.any() or failed.all():
        return Failures(None)
    forest = ExtraTreesClassifier(200, random_state=seed, min_samples_leaf=2, class_weight="balanced")
    return Failures(forest.fit(shares, failed))
