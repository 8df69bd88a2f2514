"""Statistics of measured values: percentiles, and points and slopes of curves."""

from __future__ import annotations

import math
from collections.abc import Sequence


def percentile(values: Sequence[float], percent: float) -> float:
    """Return a percentile of the values, by linear interpolation.

    Args:
        values: shape (n,), in any order, at least one.
        percent: from 0 (minimum) over 50 (median) to 100 (maximum).
    """
    ordered, place = sorted(values), percent / 100 * (len(values) - 1)
    low = math.floor(place)
    above = ordered[min(low + 1, len(ordered) - 1)]
    return ordered[low] + (place - low) * (above - ordered[low])


def half_bandwidth(sizes: Sequence[int], bandwidths: Sequence[float], peak: float) -> float:
    """Return the message size in bytes at which half of `peak` is reached, by linear interpolation."""
    for i in range(1, len(sizes)):
        low, high = bandwidths[i - 1], bandwidths[i]
        if low < peak / 2 <= high:
            return sizes[i - 1] + (sizes[i] - sizes[i - 1]) * (peak / 2 - low) / (high - low)
    return float(sizes[0])


def cheaper_up_to(points: Sequence[float], one: Sequence[float], other: Sequence[float]) -> float:
    """Return the last point up to which `one` costs no more than `other`; 0 if `one` costs more at the first point."""
    last = 0.0
    for point, a, b in zip(points, one, other, strict=True):
        if a > b:
            break
        last = point
    return last


def crossing(points: Sequence[float], one: Sequence[float], other: Sequence[float]) -> float:
    """Return the point at which `other` falls below `one`, by linear interpolation.

    The last point if `other` never falls below, 0 if it is below at the first point.
    """
    gaps = [a - b for a, b in zip(one, other, strict=True)]
    if gaps[0] > 0:
        return 0.0
    for at in range(1, len(points)):
        if gaps[at] > 0:
            share = -gaps[at - 1] / (gaps[at] - gaps[at - 1])
            return points[at - 1] + share * (points[at] - points[at - 1])
    return float(points[-1])


def slope(points: Sequence[float], values: Sequence[float]) -> float:
    """Return the slope of the least-squares line through the points."""
    count = len(points)
    mean_x, mean_y = sum(points) / count, sum(values) / count
    over = sum((x - mean_x) * (y - mean_y) for x, y in zip(points, values, strict=True))
    return over / sum((x - mean_x) ** 2 for x in points)
