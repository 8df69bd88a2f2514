"""Curves: values over a parameter, recorded as a series and as one metric per point."""

from __future__ import annotations

from collections.abc import Sequence

from tb.lab.lab import Notebook


def curve(
    lab: Notebook, name: str, x: Sequence[float], y: Sequence[float], x_unit: str, y_unit: str, metric: str = ""
) -> None:
    """Record a curve.

    Args:
        lab: the study's lab.
        name: name of the series. Empty: no series.
        x: parameter of each point, such as the message size; shape (n,).
        y: value of each point; shape (n,).
        x_unit: unit of the parameter.
        y_unit: unit of the values.
        metric: name of the metric of a point; `{}` is replaced by the point's parameter. Empty: no metrics.
    """
    if metric:
        for point, value in zip(x, y, strict=True):
            lab.metric(metric.format(point), value)
    if name:
        lab.series(name, x, y, x_unit, y_unit)
