"""What studies read from curves: where half of the peak is reached, and up to which point one alternative is
cheaper.
"""

from __future__ import annotations

from collections.abc import Sequence


def half_bandwidth(sizes: Sequence[int], bandwidths: Sequence[float], peak: float) -> float:
    """The size at which half of the peak is reached, by linear interpolation between measured sizes, in bytes."""
    for i in range(1, len(sizes)):
        low, high = bandwidths[i - 1], bandwidths[i]
        if low < peak / 2 <= high:
            return sizes[i - 1] + (sizes[i] - sizes[i - 1]) * (peak / 2 - low) / (high - low)
    return float(sizes[0])


def cheaper_up_to(points: Sequence[float], one: Sequence[float], other: Sequence[float]) -> float:
    """The last point up to which `one` costs no more than `other`; 0 when it does not even at the first."""
    last = 0.0
    for point, a, b in zip(points, one, other, strict=True):
        if a > b:
            break
        last = point
    return last


def slope(points: Sequence[float], values: Sequence[float]) -> float:
    """Growth of a value per unit, by least squares."""
    count = len(points)
    mean_x, mean_y = sum(points) / count, sum(values) / count
    over = sum((x - mean_x) * (y - mean_y) for x, y in zip(points, values, strict=True))
    return over / sum((x - mean_x) ** 2 for x in points)
