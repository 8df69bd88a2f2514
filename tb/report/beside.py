"""Published values beside measured curves: which published point belongs to which series.

A published value names a metric; where the metric ends in a number and a series has a point there whose value is the
metric's, the value is a point of the paper's curve. So no study and no published value says where it is drawn.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from pymodels.published import load_published
from pymodels.results import Comparison, Results, Series

POINT = re.compile(r".*?_(\d+(?:\.\d+)?)B?")


def points_beside(series: Series, results: Results) -> list[tuple[float, float]]:
    """The published points (x, y) of a series of a result, in the order of x."""
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
    """Name and ratio of the published values for which something was measured."""
    return [(row.name, row.ratio) for row in rows if row.ratio is not None]
