"""Curves: values over a parameter, handed in as a series and as one metric for each point."""

from __future__ import annotations

from collections.abc import Sequence

from tb.lab.lab import Notebook


def curve(
    lab: Notebook, name: str, x: Sequence[float], y: Sequence[float], x_unit: str, y_unit: str, metric: str = ""
) -> None:
    """Hand in a curve.

    Args:
        lab: the study's lab.
        name: name of the series. Empty: metrics only.
        x: parameter of each point, such as the size of a message; shape (n,).
        y: value of each point; shape (n,).
        x_unit: unit of the parameter.
        y_unit: unit of the values.
        metric: name of the metric of a point, with `{}` where its parameter stands. Empty: the series only.
    """
    if metric:
        for point, value in zip(x, y, strict=True):
            lab.metric(metric.format(point), value)
    if name:
        lab.series(name, x, y, x_unit, y_unit)
