"""Design of experiments: uncertain profile values, changed together, one at a time, and drawn at random.

Most profile values do not affect a study. Therefore each table of values (`bridge`, `pci`, ...) first takes its lower
ends, then its upper ends. If all metrics stay equal to the last digit, none of its values counts; values that cancel
each other exactly are missed. The other values take their ends one at a time. Those with an effect are drawn together
by a Latin hypercube: each range has as many strata as draws, and each stratum is used once.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pymodels.hardware.ranges import Range, range_of
from pymodels.hardware.schema import Key, Scalar
from pymodels.profiles import Profile

Place = Mapping[str, str]
"""Settings of a point as typed."""


@dataclass(frozen=True)
class Unsure:
    """Uncertain profile value with its range."""

    key: Key
    value: Scalar
    range: Range


def unsure(profile: Profile, settings: Iterable[str]) -> list[Unsure]:
    """Return the uncertain values of a profile, except those that the user sets."""
    given = set(settings)
    found = []
    for name, key in profile.keys.items():
        known = range_of(key, profile.values[name])
        if known is not None and known.low != known.high and name not in given:
            found.append(Unsure(key, profile.values[name].value, known))
    return found


def together(values: Sequence[Unsure]) -> dict[str, list[Place]]:
    """Return two points for each table: all its values at their lower ends, and all at their upper ends."""
    tables: dict[str, list[Unsure]] = {}
    for one in values:
        tables.setdefault(one.key.name.split(".")[0], []).append(one)
    return {
        table: [_place({one.key.name: end(one.range) for one in group}) for end in (_low, _high)]
        for table, group in tables.items()
    }


def alone(values: Iterable[Unsure]) -> dict[str, tuple[Place, Place]]:
    """Return two points for each key: the value at its lower and its upper end, or the unchanged profile
    where the end is the value.
    """
    return {one.key.name: (_at(one, one.range.low), _at(one, one.range.high)) for one in values}


def _at(one: Unsure, end: Scalar) -> Place:
    return _place({one.key.name: end} if end != one.value else {})


def hypercube(values: Sequence[Unsure], draws: int, seed: int) -> list[Place]:
    """Return `draws` points with random values, one in each of `draws` strata of every range."""
    rng = random.Random(f"hypercube {seed}")
    shares = []
    for _ in values:
        strata = rng.sample(range(draws), draws)
        shares.append([(stratum + rng.random()) / draws for stratum in strata])
    return [
        _place({one.key.name: one.range.at(share[at], one.key) for one, share in zip(values, shares, strict=True)})
        for at in range(draws)
    ]


def _low(known: Range) -> Scalar:
    return known.low


def _high(known: Range) -> Scalar:
    return known.high


def _place(values: Mapping[str, Scalar]) -> Place:
    return {name: f"{value:.6g}" if isinstance(value, float) else str(value) for name, value in values.items()}
