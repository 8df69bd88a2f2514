"""Evaluation of points: effect of each value on a figure, and the interval of 90 % of the draws."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from pymodels.published import Published

INSIDE = 0.9
"""Share of the draws in an interval."""
Metrics = Mapping[str, float]


@dataclass(frozen=True)
class Swing:
    """Profile value, and the figure at the lower and upper end of its range (None if that run failed).

    `low` is greater than `high` if a larger value reduces the figure.
    """

    key: str
    low: float | None
    high: float | None

    @property
    def ends(self) -> tuple[float, ...]:
        """Known figures at the ends of the range."""
        return tuple(end for end in (self.low, self.high) if end is not None)

    def span(self, measured: float) -> float:
        """Return the effect on a figure that is `measured` with the unchanged profile."""
        return max(*self.ends, measured) - min(*self.ends, measured) if self.ends else 0.0


@dataclass(frozen=True)
class Figure:
    """Published value with its interval, and the values that affect it, strongest first."""

    name: str
    source: str
    published: float
    unit: str
    measured: float
    low: float
    median: float
    high: float
    swings: tuple[Swing, ...]
    drawn: int
    """Number of draws with a result, on which the interval is based."""
    failed: int
    """Number of draws without a result."""

    def as_json(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return asdict(self)


def moved(base: Metrics, found: Sequence[Metrics], metrics: Sequence[str]) -> bool:
    """Return True if a metric differs from its value with the unchanged profile."""
    return any(one.get(name) != base.get(name) for one in found for name in metrics)


def figure(
    row: Published, base: Metrics, singles: Mapping[str, tuple[Metrics, Metrics]], draws: Sequence[Metrics]
) -> Figure:
    """Return a row's interval and swings; `singles` has the metrics at both ends of each key's range."""
    metric, measured = row.metric, base[row.metric]
    swings = [Swing(key, low.get(metric), high.get(metric)) for key, (low, high) in singles.items()]
    drawn = sorted(one[metric] for one in draws if metric in one)
    low, median, high = (quantile(drawn or [measured], share) for share in ((1 - INSIDE) / 2, 0.5, (1 + INSIDE) / 2))
    felt = [one for one in swings if one.span(measured) or len(one.ends) < 2]
    strongest = tuple(sorted(felt, key=lambda one: -one.span(measured)))
    told = row.name, row.source, row.value, row.unit, measured, low, median, high
    return Figure(*told, strongest, len(drawn), len(draws) - len(drawn))


def quantile(ordered: Sequence[float], share: float) -> float:
    """Return a quantile of ordered values by linear interpolation."""
    place = share * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])
