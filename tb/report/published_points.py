"""Assignment of published values to the points of measured curves.

A published value names a metric, whose name has an x: a number at its end or before a `B`. The value is a point of a
curve that has the metric's value at this x. The peak of a curve belongs to the x of its greatest value, and a
half bandwidth to half of the published peak.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from pymodels.profiles import parse_settings
from pymodels.published import Published, load_published
from pymodels.published_roles import Scale
from pymodels.results import Comparison, Results, Series

POINT = re.compile(r".*?_(\d+(?:\.\d+)?)B?")
SIZE = re.compile(r".*?_(\d+)B_.*")
PEAK = "_peak"
"""End of the names of metrics that are the greatest value of a curve."""


def published_points(
    series: Series, results: Results, published: Sequence[Published] | None = None
) -> list[tuple[float, float]]:
    """Return the published points (x, y) of a series, in the order of x.

    Args:
        series: Curve.
        results: Results that have the curve.
        published: Published values; those of the repository by default.
    """
    known_values = load_published() if published is None else published
    values = [one for one in known_values if _belongs(one, results)]
    known = {one.name: one for one in values}
    found = []
    for value in values:
        measured = results.metrics.get(value.metric)
        if measured is None:
            continue
        if value.scored is Scale.RATE:
            found += _half(series, results, value, known.get(value.peak))
        elif (x := _place(series, value.metric, measured)) is not None:
            found.append((x, value.value))
    return sorted(found)


def _belongs(value: Published, results: Results) -> bool:
    """Return True if a run measures a value: its study, profile and settings, and not the ratio of two metrics."""
    wanted = parse_settings(value.settings).items()
    given = all(_equal(results.settings.get(key), setting) for key, setting in wanted)
    return value.study == results.study and value.profile == results.profile and given and not value.over


def _equal(value: float | str | None, setting: str) -> bool:
    """Return True if a setting of a run has the value that a text gives."""
    try:
        return value is not None and float(value) == float(setting)
    except ValueError:
        return value == setting


def _place(series: Series, metric: str, measured: float) -> float | None:
    """Return the x of a metric on a series that has its value there, or None."""
    points = dict(zip(series.x, series.y, strict=False))
    if metric.endswith(PEAK) and points and measured == max(points.values()):
        return max(points, key=points.__getitem__)
    places = [float(match[1]) for pattern in (POINT, SIZE) if (match := pattern.fullmatch(metric))]
    return next((x for x in places if points.get(x) == measured), None)


def _half(series: Series, results: Results, value: Published, peak: Published | None) -> list[tuple[float, float]]:
    """Return the point of a half bandwidth, if the series has the peak."""
    if peak is None or peak.metric not in results.metrics:
        return []
    on_it = _place(series, peak.metric, results.metrics[peak.metric]) is not None
    return [(value.value, peak.value / 2)] if on_it else []


def ratios(rows: Sequence[Comparison]) -> list[tuple[str, float]]:
    """Return name and ratio of the published values that were measured."""
    return [(row.name, row.ratio) for row in rows if row.ratio is not None]
