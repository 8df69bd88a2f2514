"""History matching: implausibility of points, share of the space that is left, and weighted samples of it.

The implausibility of a point for one row is the distance between score and published score in standard deviations. Its
variance has three terms: the emulator, the published value, and the model's discrepancy. A point is plausible if no row
exceeds the limit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tb.calibrate.design import points
from tb.calibrate.emulate import Emulator, Failures
from tb.calibrate.space import Array

LIMIT = 3.0
"""Greatest implausibility of a plausible point (three-sigma rule)."""
CANDIDATES = 1 << 13
"""Points by which the share of the space is measured."""
PARTICLES = 1 << 10
STEPS = 12
"""Moves of each particle at each temperature. With 3, values without effect were narrowed to half of their range."""
MOVED = 0.2
"""Share of the dimensions that a move changes."""
EFFECTIVE = 0.5
"""Share of the particles that stay effective from one temperature to the next."""


@dataclass(frozen=True)
class Observation:
    """Published score of one row.

    Attributes:
        name: Name of the row.
        table: Table that is left out together.
        train: True if the row conditions values.
        published: Published score.
        sd: Standard deviation of the published score.
        discrepancy: Standard deviation of the model's own error, in the unit of the score.
    """

    name: str
    table: str
    train: bool
    published: float
    sd: float
    discrepancy: float

    @property
    def variance(self) -> float:
        """Variance of the published score and of the discrepancy."""
        return self.sd**2 + self.discrepancy**2


def implausibility(observed: Observation, mean: Array, deviation: Array | float) -> Array:
    """Return the implausibility of each point for one row.

    Args:
        observed: Row.
        mean: Score at each point.
        deviation: Standard deviation of the score; 0 for the score of a run.
    """
    return np.abs(mean - observed.published) / np.sqrt(np.asarray(deviation) ** 2 + observed.variance)


@dataclass(frozen=True)
class Match:
    """Emulators of the rows that condition, and their published scores."""

    rows: Sequence[Observation]
    emulators: Sequence[Emulator]
    failures: Failures

    def each(self, shares: Array) -> Array:
        """Return the implausibility of each point (rows) for each conditioning row (columns)."""
        if not self.rows:
            return np.zeros((len(shares), 0))
        told = [
            implausibility(row, *emulator.predict(shares))
            for row, emulator in zip(self.rows, self.emulators, strict=True)
        ]
        return np.column_stack(told)

    def worst(self, shares: Array) -> Array:
        """Return the greatest implausibility of each point; infinite where a run is expected to fail."""
        found = self.each(shares).max(axis=1, initial=0.0)
        return np.where(self.failures.expected(shares), np.inf, found)

    def likelihood(self, shares: Array) -> Array:
        """Return the logarithm of the likelihood of each point."""
        total = np.zeros(len(shares))
        for row, emulator in zip(self.rows, self.emulators, strict=True):
            mean, deviation = emulator.predict(shares)
            variance = deviation**2 + row.variance
            total -= 0.5 * ((mean - row.published) ** 2 / variance + np.log(variance))
        return np.where(self.failures.expected(shares), -1e9, total)

    def left(self, size: int, seed: int) -> tuple[Array, float]:
        """Return the plausible points among the candidates, and their share of the space, 0 to 1."""
        candidates = points("sobol", CANDIDATES, size, seed)
        plausible = self.worst(candidates) <= LIMIT
        return candidates[plausible], float(plausible.mean())

    def sample(self, size: int, seed: int) -> Array:
        """Return points of equal weight from the space, conditioned on all rows.

        The likelihood enters step by step: at each temperature, particles are resampled by their weights and moved by
        a random walk that keeps the distribution (sequential Monte Carlo).

        Args:
            size: Number of dimensions.
            seed: Seed of the draw.
        """
        rng = np.random.default_rng(seed)
        particles = points("sobol", PARTICLES, size, seed)
        known = self.likelihood(particles)
        temperature = 0.0
        while temperature < 1:
            step = _next(known, temperature)
            weights = np.exp((step - temperature) * (known - known.max()))
            kept = rng.choice(len(particles), len(particles), p=weights / weights.sum())
            particles, known, temperature = particles[kept], known[kept], step
            for _ in range(STEPS):
                particles, known = self._moved(particles, known, temperature, rng)
        return particles

    def _moved(
        self, particles: Array, known: Array, temperature: float, rng: np.random.Generator
    ) -> tuple[Array, Array]:
        """Return the particles after one step of the random walk in some dimensions, reflected at the borders."""
        size = particles.shape[1]
        jump = 1.5 / (MOVED * size) ** 0.5 * particles.std(axis=0)
        steps = rng.normal(size=particles.shape) * jump * (rng.random(particles.shape) < MOVED)
        moved = np.abs(particles + steps)
        moved = 1 - np.abs(1 - moved % 2)
        told = self.likelihood(moved)
        taken = np.log(rng.random(len(particles))) < temperature * (told - known)
        return np.where(taken[:, None], moved, particles), np.where(taken, told, known)


def _next(known: Array, temperature: float) -> float:
    """Return the next temperature, at which a share of the particles stays effective, at most 1."""
    low, high = temperature, 1.0

    def effective(step: float) -> float:
        weights = np.exp((step - temperature) * (known - known.max()))
        return float(weights.sum() ** 2 / (weights**2).sum() / len(known))

    if effective(1.0) >= EFFECTIVE:
        return 1.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if effective(middle) >= EFFECTIVE else (low, middle)
    return max(low, temperature + 1e-6)
