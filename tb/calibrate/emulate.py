"""Emulators: a fast prediction of one score at any point, with its uncertainty, learned from runs.

Few of the dimensions decide a score, and there are fewer runs than coefficients. A lasso on all dimensions and their
squares finds the strong ones. Three models are compared: the lasso, the lasso with a Gaussian process on the strong
dimensions for the rest, and a Gaussian process on the strong dimensions alone. Folds that are left out decide between
them and measure the accuracy; in each fold the strong dimensions are chosen anew. Q2 is 1 for exact predictions and 0
for the mean.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel
from sklearn.linear_model import LassoCV
from sklearn.model_selection import KFold
from threadpoolctl import threadpool_limits

from tb.calibrate.space import Array

ACTIVE = 8
"""Maximum number of dimensions of a Gaussian process."""
FOLDS = 5
FEWEST = 8
"""Minimum number of runs of an emulator."""
PENALTIES = 40
"""Number of penalties of the lasso, of which cross-validation chooses one."""
FORMS = ((True, False), (True, True), (False, True))
"""Compared models: with the lasso as mean, with a Gaussian process."""
Rounding = Callable[[Array], Array]
"""Function that rounds positions to those of whole numbers and choices."""


def unrounded(shares: Array) -> Array:
    """Return positions as they are."""
    return shares


@dataclass(frozen=True)
class Model:
    """Lasso and Gaussian process of a score with mean 0 and deviation 1; one of them may be absent.

    Attributes:
        active: Indices of the dimensions of the Gaussian process, strongest first.
    """

    active: tuple[int, ...]
    _mean: Any
    _process: Any

    def predict(self, shares: Array) -> tuple[Array, Array]:
        """Return mean and standard deviation at some points, one a row."""
        told = np.zeros(len(shares)) if self._mean is None else np.asarray(self._mean.predict(_features(shares)))
        if self._process is None:
            return told, np.zeros(len(shares))
        more, deviation = self._process.predict(shares[:, list(self.active)], return_std=True)
        return told + more, np.asarray(deviation)


@dataclass(frozen=True)
class Emulator:
    """Prediction of one score.

    Attributes:
        q2: Share of the variance that predictions of left-out runs explain; 1 for a constant score.
        noise: Standard deviation of these predictions' errors, in the unit of the score.
    """

    q2: float
    noise: float
    _model: Model | None
    _centre: float
    _scale: float
    _rounded: Rounding

    @property
    def active(self) -> tuple[int, ...]:
        """Indices of the strong dimensions, strongest first; none for a constant score."""
        return self._model.active if self._model else ()

    def predict(self, shares: Array) -> tuple[Array, Array]:
        """Return mean and standard deviation of the score at some points, one a row."""
        if self._model is None:
            return np.full(len(shares), self._centre), np.zeros(len(shares))
        mean, deviation = self._model.predict(self._rounded(shares))
        return self._centre + self._scale * mean, np.maximum(self._scale * deviation, self.noise)


def _features(shares: Array) -> Array:
    centred = 2 * shares - 1
    return np.hstack([centred, centred**2])


def fit(shares: Array, scores: Array, seed: int, rounded: Rounding = unrounded) -> Emulator:
    """Return the emulator of one score.

    Args:
        shares: Positions of the runs, one a row.
        scores: Score of each run; infinite and NaN ones are left out.
        seed: Seed of the folds and of the optimiser.
        rounded: Rounding of positions, before a run and before a prediction.

    Raises:
        ValueError: Fewer than `FEWEST` runs have a finite score.
    """
    usable = np.isfinite(scores)
    shares, scores = rounded(shares[usable]), scores[usable]
    if len(scores) < FEWEST:
        raise ValueError(f"{len(scores)} runs with a score, but an emulator needs {FEWEST}")
    centre, scale = float(scores.mean()), float(scores.std())
    if scale <= 1e-9 * max(abs(centre), 1e-12):
        return Emulator(1.0, 0.0, None, centre, 0.0, rounded)
    wanted = (scores - centre) / scale
    with threadpool_limits(1), warnings.catch_warnings():  # a length at its bound: the dimension has no further effect
        warnings.simplefilter("ignore", ConvergenceWarning)
        errors = _errors(shares, wanted, seed)
        best = int(np.argmin(errors))
        model = _fitted(shares, wanted, seed, (FORMS[best],))[0]
    return Emulator(1 - errors[best], scale * errors[best] ** 0.5, model, centre, scale, rounded)


def _errors(shares: Array, wanted: Array, seed: int) -> list[float]:
    """Return the mean squared error of each form at left-out runs."""
    errors = np.empty((len(FORMS), len(wanted)))
    for learned, left_out in KFold(FOLDS, shuffle=True, random_state=seed).split(shares):
        for at, model in enumerate(_fitted(shares[learned], wanted[learned], seed, FORMS)):
            errors[at, left_out] = model.predict(shares[left_out])[0] - wanted[left_out]
    return [float(one) for one in np.mean(errors**2, axis=1)]


def _fitted(shares: Array, wanted: Array, seed: int, forms: tuple[tuple[bool, bool], ...]) -> list[Model]:
    """Return the models of some forms; they share the lasso and the dimensions that it finds."""
    lasso = LassoCV(cv=FOLDS, alphas=PENALTIES, max_iter=20_000).fit(_features(shares), wanted)
    active, found = _strongest(lasso, shares.shape[1]), []
    for with_mean, with_process in forms:
        rest = wanted - lasso.predict(_features(shares)) if with_mean else wanted
        needed = with_process and len(active) > 0 and float(rest.std()) >= 1e-9
        process = _process(seed, len(active)).fit(shares[:, list(active)], rest) if needed else None
        found.append(Model(active, lasso if with_mean else None, process))
    return found


def _process(seed: int, size: int) -> GaussianProcessRegressor:
    """Return a Gaussian process on some dimensions, not yet fitted."""
    lengths = Matern(np.ones(size), (0.1, 100.0), nu=2.5)
    kernel = ConstantKernel(1.0, (1e-6, 1e3)) * lengths + WhiteKernel(1e-2, (1e-8, 1.0))
    return GaussianProcessRegressor(kernel, random_state=seed)


def _strongest(lasso: LassoCV, size: int) -> tuple[int, ...]:
    """Return the dimensions with the greatest effect on the lasso, strongest first; none without effect."""
    effect = np.abs(lasso.coef_[:size]) + np.abs(lasso.coef_[size:])
    return tuple(int(at) for at in np.argsort(-effect)[:ACTIVE] if effect[at] > 0)


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
