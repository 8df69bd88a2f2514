"""Waves of history matching: each wave runs points that the earlier ones leave plausible."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from pymodels.errors import ConfigError
from tb.calibrate import design
from tb.calibrate.emulate import FEWEST, Emulator, Failures, Rounding, fit, learn_failures, unrounded
from tb.calibrate.match import LIMIT, Match, Observation, implausibility
from tb.calibrate.space import Array

Evaluate = Callable[[Array, str], tuple[Mapping[str, Array], Sequence[str]]]
"""Function that returns the scores by row at some positions, and the reason of each failure."""


@dataclass(frozen=True)
class Wave:
    """Outcome of one wave.

    Attributes:
        points: Number of points of the wave.
        failed: Number of points of the wave at which a run failed.
        share: Share of the space that is plausible after the wave, 0 to 1.
    """

    points: int
    failed: int
    share: float


@dataclass
class Matched:
    """Runs and emulators after the last wave.

    Attributes:
        shares: Positions of all runs, one a row; the first is the default of the profiles.
        scores: Scores by row.
        reasons: Reason of a failure by position; empty if all runs passed.
        of_wave: Number of the wave of each position; 0 for the default.
        emulators: Emulators by row.
        skipped: Rows without an emulator, with the reason.
        failures: Classifier of failing points.
        rounded: Rounding of positions to those of whole numbers and choices.
    """

    shares: Array
    scores: dict[str, Array]
    reasons: list[str]
    of_wave: list[int]
    waves: list[Wave] = field(default_factory=list)
    emulators: dict[str, Emulator] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)
    failures: Failures = field(default_factory=lambda: Failures(None))
    rounded: Rounding = unrounded

    def match(self, rows: Sequence[Observation]) -> Match:
        """Return the emulators of the conditioning rows."""
        known = [row for row in rows if row.train and row.name in self.emulators]
        return Match(known, [self.emulators[row.name] for row in known], self.failures)

    def met(self, rows: Sequence[Observation]) -> Array:
        """Return the greatest implausibility of each run over the conditioning rows, from its own scores."""
        known = [row for row in rows if row.train and row.name in self.emulators]
        told = [implausibility(row, self.scores[row.name], 0.0) for row in known]
        worst: Array = np.nan_to_num(np.max(told, axis=0, initial=0.0), nan=np.inf)
        return worst

    def add(self, shares: Array, scores: Mapping[str, Array], reasons: Sequence[str], wave: int) -> None:
        """Add the runs of a wave; arguments as the attributes."""
        self.shares = np.vstack([self.shares, shares])
        for name, values in scores.items():
            self.scores[name] = np.concatenate([self.scores.get(name, np.empty(0)), values])
        self.reasons += reasons
        self.of_wave += [wave] * len(shares)

    def learn(self, rows: Sequence[Observation], seed: int) -> None:
        """Learn from all runs, and add the last wave with the share of the space that it leaves.

        Raises:
            ConfigError: Too few runs passed for an emulator of any conditioning row.
        """
        self._emulate(rows, seed)
        if not any(row.train for row in rows if row.name in self.emulators):
            told = "; ".join(sorted(set(filter(None, self.reasons)))) or "no run measured a conditioning row"
            remedy = f"correct the runs, or give more than {FEWEST} points"
            raise ConfigError("FAMILY", 0, "no emulator", told, remedy)
        last = [bool(one) for one, wave in zip(self.reasons, self.of_wave, strict=True) if wave == self.of_wave[-1]]
        self.waves.append(Wave(len(last), sum(last), self.match(rows).left(self.shares.shape[1], seed)[1]))

    def _emulate(self, rows: Sequence[Observation], seed: int) -> None:
        counts = {row.name: int(np.isfinite(self.scores[row.name]).sum()) for row in rows}
        self.skipped = {name: f"{n} runs with a score, {FEWEST} needed" for name, n in counts.items() if n < FEWEST}
        usable = [name for name in counts if name not in self.skipped]
        self.emulators = {name: fit(self.shares, self.scores[name], seed, self.rounded) for name in usable}
        self.failures = learn_failures(
            self.rounded(self.shares), np.array([bool(reason) for reason in self.reasons]), seed
        )


def run_waves(
    rows: Sequence[Observation],
    first: Array,
    evaluate: Evaluate,
    points: int,
    waves: int,
    method: str,
    seed: int,
    rounded: Rounding = unrounded,
) -> Matched:
    """Return the runs and emulators after some waves. The same arguments give the same points.

    The first wave is a design of the whole space. Each later one has plausible points, as far apart as possible; where
    too few candidates are plausible, points of the conditioned distribution.

    Args:
        rows: Rows of the family.
        first: Position of the profiles' own values.
        evaluate: Function that runs the points.
        points: Points of a wave.
        waves: Number of waves.
        method: Design of the first wave, `latin` or `sobol`.
        seed: Seed of the designs.
        rounded: Rounding of positions to those of whole numbers and choices.

    Raises:
        ConfigError: Too few runs passed for an emulator of any conditioning row.
    """
    size = len(first)
    found = Matched(np.empty((0, size)), {}, [], [], rounded=rounded)
    found.add(first[None, :], *evaluate(first[None, :], "default"), 0)
    for number in range(1, waves + 1):
        chosen = design.points(method, points, size, seed) if number == 1 else _survivors(found, rows, points, seed)
        if not len(chosen):
            break
        found.add(chosen, *evaluate(chosen, f"wave {number}"), number)
        found.learn(rows, seed)
    return found


def learn_again(rows: Sequence[Observation], known: Matched, seed: int, rounded: Rounding = unrounded) -> Matched:
    """Return the emulators after each wave of points that have run already. Raises as `run_waves`.

    Args:
        rows: Rows of the family.
        known: Positions, scores, failures and waves of the runs.
        seed: Seed of the emulators.
        rounded: Rounding of positions to those of whole numbers and choices.
    """
    found = Matched(known.shares[:0], {}, [], [], rounded=rounded)
    for wave in sorted(set(known.of_wave)):
        at = [place for place, number in enumerate(known.of_wave) if number == wave]
        scores = {name: values[at] for name, values in known.scores.items()}
        found.add(known.shares[at], scores, [known.reasons[place] for place in at], wave)
        if wave:
            found.learn(rows, seed)
    return found


def _survivors(found: Matched, rows: Sequence[Observation], count: int, seed: int) -> Array:
    match, size = found.match(rows), found.shares.shape[1]
    left, _ = match.left(size, seed)
    if len(left) < 2 * count:
        drawn = match.sample(size, seed)
        near = match.worst(drawn) <= LIMIT
        left = np.vstack([left, drawn[near] if near.any() else drawn])
    return design.spread(left, found.shares, count)
