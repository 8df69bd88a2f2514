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
    """A value, and what the figure is with it at the lower and at the upper end of its range; `low` is greater than
    `high` where more of it makes less of the figure. None where that run failed.
    """

    key: str
    low: float | None
    high: float | None

    @property
    def ends(self) -> tuple[float, ...]:
        """What the figure is at either end, as far as it is known."""
        return tuple(end for end in (self.low, self.high) if end is not None)

    def span(self, measured: float) -> float:
        """How far it moves a figure that is `measured` with the value as the profile has it."""
        return max(*self.ends, measured) - min(*self.ends, measured) if self.ends else 0.0


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
    drawn: int
    """Draws that measured it: the interval is of these."""
    failed: int
    """Draws that did not."""

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


def moved(base: Metrics, found: Sequence[Metrics], metrics: Sequence[str]) -> bool:
    """Whether any metric differs from what it is with the profile as it stands."""
    return any(one.get(name) != base.get(name) for one in found for name in metrics)


def figure(
    row: Published, base: Metrics, singles: Mapping[str, tuple[Metrics, Metrics]], draws: Sequence[Metrics]
) -> Figure:
    """A row's interval and swings. `singles`: by key, the metrics at its lower and at its upper end."""
    metric, measured = row.metric, base[row.metric]
    swings = [Swing(key, low.get(metric), high.get(metric)) for key, (low, high) in singles.items()]
    drawn = sorted(one[metric] for one in draws if metric in one)
    low, median, high = (quantile(drawn or [measured], share) for share in ((1 - INSIDE) / 2, 0.5, (1 + INSIDE) / 2))
    felt = [one for one in swings if one.span(measured) or len(one.ends) < 2]
    strongest = tuple(sorted(felt, key=lambda one: -one.span(measured)))
    told = row.name, row.source, row.value, row.unit, measured, low, median, high
    return Figure(*told, strongest, len(drawn), len(draws) - len(drawn))


def quantile(ordered: Sequence[float], share: float) -> float:
    """The value below which a share of them lies, by linear interpolation; they come in their order."""
    place = share * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])
