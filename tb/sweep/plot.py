"""Plot of a sweep: a panel for each varying metric over the longest axis, with a line for each other combination."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from itertools import cycle
from pathlib import Path
from types import MappingProxyType
from typing import Any, cast

from pymodels.results import write_atomically
from tb.report import tables
from tb.report.figure import CURVE, FURTHER, MARKS, PAGE, STYLE, coloured
from tb.sweep.axes import Axis
from tb.sweep.table import Cell, typed, varied

PANELS = 9
"""Maximum number of metrics in the plot."""
LINES = 12
"""Maximum number of lines of a panel with a legend."""
TICKS = 6
WIDE = 30
"""Ratio of the largest to the smallest value above which an axis is logarithmic."""


def long_axis(axes: Sequence[Axis]) -> Axis:
    """Return the horizontal axis: the numeric axis with the most values, else the longest axis."""
    numbers = [axis for axis in axes if all(not isinstance(value, str) for value in typed(axis.values))]
    return max(numbers or axes, key=lambda axis: len(axis.values))


def lines(table: Mapping[str, list[Cell]], axes: Sequence[Axis], metric: str) -> dict[str, list[tuple[Cell, float]]]:
    """Return the points (x, metric) by combination of the other axes, in the order of the table."""
    along = long_axis(axes).key
    others = [axis.key for axis in axes if axis.key != along]
    found: dict[str, list[tuple[Cell, float]]] = {}
    for at, value in enumerate(table[metric]):
        if isinstance(value, (int, float)):
            name = " ".join(f"{key}={table[key][at]}" for key in others)
            found.setdefault(name, []).append((table[along][at], value))
    return found


def drawable(table: Mapping[str, list[Cell]], axes: Sequence[Axis], metrics: Sequence[str]) -> list[str]:
    """Return the metrics that vary and have a line with at least two points."""
    return [
        metric
        for metric in varied(table, metrics)
        if any(len(points) > 1 for points in lines(table, axes, metric).values())
    ]


def draw(
    table: Mapping[str, list[Cell]],
    axes: Sequence[Axis],
    metrics: Sequence[str],
    title: str,
    path: Path,
    units: Mapping[str, str] = MappingProxyType({}),
) -> bool:
    """Draw the varying metrics in the style of the reports; return False if no metric varies.

    Args:
        table: Columns of the sweep by name.
        axes: Axes of the sweep.
        metrics: Names of the metrics.
        title: Title of the plot.
        path: SVG file.
        units: Units of axes and metrics.

    Raises:
        ResultsError: Writing failed.
    """
    chosen = drawable(table, axes, metrics)[:PANELS]
    if not chosen:
        return False
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib.figure import Figure

    across = 3 if len(chosen) > 4 else 2 if len(chosen) in (2, 4) else len(chosen)
    down = -(-len(chosen) // across)
    with mpl.rc_context(cast(Any, STYLE)):
        figure = Figure(figsize=(4.6 * across, 3.1 * down + 0.4), layout="constrained")
        figure.suptitle(title)
        panels = figure.subplots(down, across, squeeze=False).flat
        for panel, metric in zip(panels, chosen, strict=False):
            _panel(panel, metric, long_axis(axes).key, lines(table, axes, metric), units)
        for panel in list(panels)[len(chosen) :]:
            panel.remove()
        drawing = io.StringIO()
        figure.savefig(drawing, format="svg", facecolor=PAGE, metadata={"Date": None, "Creator": None})
    write_atomically(path, coloured(drawing.getvalue()))
    return True


def _panel(
    panel: Any,
    metric: str,
    along: str,
    curves: Mapping[str, list[tuple[Cell, float]]],
    units: Mapping[str, str],
) -> None:
    look = zip(cycle((CURVE, *FURTHER)), cycle(MARKS))
    for (name, points), (colour, mark) in zip(curves.items(), look, strict=False):
        panel.plot(
            [x for x, _ in points],
            [y for _, y in points],
            color=colour,
            marker=mark,
            markersize=4,
            linewidth=1.8,
            label=name,
        )
    _scale(panel, [x for points in curves.values() for x, _ in points])
    panel.set_title(metric, fontsize=11)
    panel.set_xlabel(labelled(along, units))
    panel.set_ylabel(units.get(metric, ""))
    values = [y for points in curves.values() for _, y in points]
    if min(values) >= 0:
        panel.set_ylim(0, 1.08 * max(values) or 1)
    if 1 < len(curves) <= LINES:
        panel.legend(fontsize=9, frameon=False)


def labelled(name: str, units: Mapping[str, str]) -> str:
    """Return the label of an axis: name, and unit if any."""
    return f"{name}, {units[name]}" if units.get(name) else name


def _scale(panel: Any, places: Sequence[Cell]) -> None:
    """Set a logarithmic scale for a wide range of numbers; 0 is to the left of the smallest positive value."""
    numbers = [x for x in places if isinstance(x, (int, float))]
    positive = [x for x in numbers if x > 0]
    if len(numbers) < len(places) or not positive or max(positive) <= WIDE * min(positive):
        return
    if min(numbers) > 0:
        panel.set_xscale("log", base=2)
    else:
        panel.set_xscale("symlog", base=2, linthresh=min(positive), linscale=0.5)
    known = sorted(set(numbers))
    ticks = known[:: -(-len(known) // TICKS)]
    panel.set_xticks(ticks, [tables.number(value) for value in ticks])
    panel.set_xticks([], minor=True)
