"""Assignment of published values to the points of measured curves.

A published value names a metric. It is a point of a curve if the metric's name ends in a number x and the series has
the metric's value at x.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from pymodels.published import load_published
from pymodels.results import Comparison, Results, Series

POINT = re.compile(r".*?_(\d+(?:\.\d+)?)B?")


def published_points(series: Series, results: Results) -> list[tuple[float, float]]:
    """Return the published points (x, y) of a series, in the order of x."""
    measured = dict(zip(series.x, series.y, strict=False))
    found = []
    for value in load_published():
        place = POINT.fullmatch(value.metric)
        if value.study != results.study or value.profile != results.profile or place is None:
            continue
        x = float(place[1])
        if value.metric in results.metrics and measured.get(x) == results.metrics[value.metric]:
            found.append((x, value.value))
    return sorted(found)


def ratios(rows: Sequence[Comparison]) -> list[tuple[str, float]]:
    """Return name and ratio of the published values that were measured."""
    return [(row.name, row.ratio) for row in rows if row.ratio is not None]
