"""What the points of a study say of a figure: how far each value moves it, and where nine of ten draws lie."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from pymodels.published import Published

INSIDE = 0.9
"""The share of the draws that an interval holds."""
Metrics = Mapping[str, float]


@dataclass(frozen=True)
class Swing:
    """A value, and what the figure is with it at either end of its range."""

    key: str
    low: float
    high: float

    @property
    def span(self) -> float:
        """How far it moves the figure."""
        return abs(self.high - self.low)


@dataclass(frozen=True)
class Figure:
    """A published value with its interval, and the values that move it, the strongest first."""

    name: str
    source: str
    published: float
    unit: str
    measured: float
    low: float
    median: float
    high: float
    swings: tuple[Swing, ...]

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


def moved(base: Metrics, found: Sequence[Metrics], metrics: Sequence[str]) -> bool:
    """Whether any metric differs from what it is with the profile as it stands."""
    return any(one.get(name) != base.get(name) for one in found for name in metrics)


def figure(row: Published, base: Metrics, singles: Mapping[str, Sequence[Metrics]], draws: Sequence[Metrics]) -> Figure:
    """A row's interval and swings. `singles`: by key, the metrics at its lower and upper end, or at the one that
    differs from the value.
    """
    metric, measured = row.metric, base[row.metric]
    swings = []
    for key, ends in singles.items():
        values = [end[metric] for end in ends if metric in end]
        if values:
            swings.append(Swing(key, min(*values, measured), max(*values, measured)))
    drawn = sorted([one[metric] for one in draws if metric in one] or [measured])
    low, median, high = (quantile(drawn, share) for share in ((1 - INSIDE) / 2, 0.5, (1 + INSIDE) / 2))
    strongest = tuple(sorted((one for one in swings if one.span), key=lambda one: -one.span))
    return Figure(row.name, row.source, row.value, row.unit, measured, low, median, high, strongest)


def quantile(ordered: Sequence[float], share: float) -> float:
    """The value below which a share of them lies, by linear interpolation; they come in their order."""
    place = share * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])
