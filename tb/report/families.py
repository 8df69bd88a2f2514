"""Grouping of curves into figures: names that differ in one word, equal x values, and equal units.

`nic_send_pio` and `nic_send_dma` become the figure `nic send` with the curves `pio` and `dma`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pymodels.results import Series

MOST = 6
"""Maximum number of distinguishable curves in a figure; larger families are not grouped."""


@dataclass(frozen=True)
class Family:
    """Figure with its title, and its curves by their distinguishing word."""

    title: str
    curves: Mapping[str, Series]
    names: tuple[str, ...] = ()
    """Names of the curves in the results."""


def families(series: Mapping[str, Series]) -> list[Family]:
    """Return the figures of a result's curves, in the order of their first curves; empty curves are excluded.

    A curve that fits several families is in the largest; of equally large families, in that of the later word.
    """
    drawn = {name: one for name, one in series.items() if one.x}
    left = dict(drawn)
    found = []
    while left:
        first = next(iter(left))
        words = first.split("_")
        chosen, names = len(words), [first]
        for place in range(len(words)):
            alike = [name for name in drawn if _differ_at(words, name.split("_"), place) and _match(drawn, first, name)]
            still = [name for name in alike if name in left]
            if len(still) >= max(len(names), 2) and len(alike) <= MOST:
                chosen, names = place, still
        shared = " ".join(word for place, word in enumerate(words) if place != chosen)
        own = {first: first} if len(names) == 1 else {name: name.split("_")[chosen] for name in names}
        found.append(Family(shared, {own[name]: left.pop(name) for name in names}, tuple(names)))
    return found


def _differ_at(words: list[str], others: list[str], place: int) -> bool:
    """Return True if two names differ at most at one word position."""
    return len(words) == len(others) > 1 and all(
        a == b for i, (a, b) in enumerate(zip(words, others, strict=True)) if i != place
    )


def _match(series: Mapping[str, Series], first: str, name: str) -> bool:
    """Return True if two curves have the same x values and units."""
    a, b = series[first], series[name]
    return (a.x, a.x_unit, a.y_unit) == (b.x, b.x_unit, b.y_unit)
