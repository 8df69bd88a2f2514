"""Which points are run: values of a profile that may be off, together, one at a time, and drawn at random.

Most values of a profile have no part in a study. So a whole table of them (`bridge`, `pci`, ...) first goes to its
lower ends together, then to its upper ends: where every metric stays as it was to the last digit, none of them counts.
Values that cancel each other exactly would be missed. The others go to their ends one at a time; those that move
anything are drawn together, by a Latin hypercube: each one's range in as many strata as there are draws, each stratum
once.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pymodels.hardware.ranges import Range, range_of
from pymodels.hardware.schema import Key, Scalar
from pymodels.profiles import Profile

Place = Mapping[str, str]
"""Settings of a point, as they would be typed."""


@dataclass(frozen=True)
class Unsure:
    """A value that may be off."""

    key: Key
    value: Scalar
    range: Range


def unsure(profile: Profile, settings: Iterable[str]) -> list[Unsure]:
    """The values of a profile that are drawn, but for those that the user sets."""
    given = set(settings)
    found = []
    for name, key in profile.keys.items():
        known = range_of(key, profile.values[name])
        if known is not None and known.low != known.high and name not in given:
            found.append(Unsure(key, profile.values[name].value, known))
    return found


def together(values: Sequence[Unsure]) -> dict[str, list[Place]]:
    """By table: all its values at their lower ends, and all at their upper ends."""
    tables: dict[str, list[Unsure]] = {}
    for one in values:
        tables.setdefault(one.key.name.split(".")[0], []).append(one)
    return {
        table: [_place({one.key.name: end(one.range) for one in group}) for end in (_low, _high)]
        for table, group in tables.items()
    }


def alone(values: Iterable[Unsure]) -> dict[str, tuple[Place, Place]]:
    """By key: each value at its lower and at its upper end; the profile as it stands where that is the value itself."""
    return {one.key.name: (_at(one, one.range.low), _at(one, one.range.high)) for one in values}


def _at(one: Unsure, end: Scalar) -> Place:
    return _place({one.key.name: end} if end != one.value else {})


def hypercube(values: Sequence[Unsure], draws: int, seed: int) -> list[Place]:
    """So many points, each value drawn from its range, evenly in each of `draws` strata."""
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
