"""Results and published values on the scale of their comparison."""

from __future__ import annotations

import math

from pymodels.published import Published
from pymodels.published_roles import Scale, improvement

UNITS = {Scale.GAIN: "gain", Scale.OVERHEAD: "overhead", Scale.RATE: "MB/s", Scale.IMPROVEMENT: "%"}
"""Units of the scales other than the value's own."""


def unit(row: Published) -> str:
    """Return the unit of a row's score."""
    return UNITS.get(row.scored, row.unit)


def score(row: Published, measured: float, peak: float | None = None) -> float:
    """Return a measured value on the row's scale; infinite or NaN where the scale has no value for it.

    Args:
        row: Published value.
        measured: Measured value, in the unit of the row.
        peak: Measured peak in MB/s, for a half bandwidth.
    """
    if row.scored is Scale.GAIN:
        return measured - 1
    if row.scored is Scale.OVERHEAD:
        return row.processes / measured - 1 if measured else math.inf
    if row.scored is Scale.IMPROVEMENT:
        return improvement(measured)
    if row.scored is Scale.RATE:
        return math.nan if peak is None else peak * row.value / (row.value + measured)
    return measured


def published_score(row: Published, peak: float | None = None) -> float:
    """Return the published value on the row's scale.

    Args:
        row: Published value.
        peak: Published peak in MB/s, for a half bandwidth.
    """
    if row.scored is Scale.IMPROVEMENT:
        return row.value
    return score(row, row.value, peak)


def score_sd(row: Published, peak: float | None = None) -> float:
    """Return the standard deviation of the published value on the row's scale, without model discrepancy.

    Args:
        row: Published value.
        peak: Published peak in MB/s, for a half bandwidth.
    """
    if row.scored is Scale.OVERHEAD:
        return row.sd * row.processes / row.value**2
    if row.scored is Scale.RATE:
        return math.nan if peak is None else row.sd * peak / (4 * row.value)
    return row.sd
