"""SVG figures for pages. Colours are CSS variables and follow light and dark themes.

matplotlib is imported with the first figure, since that takes a second.
"""

from __future__ import annotations

import io
import math
import re
from collections.abc import Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any, cast

from pymodels.results import Series
from tb.report.tables import size

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INK, GRID, CURVE, PAPER = "#010101", "#020202", "#030303", "#040404"
FURTHER = ("#050505", "#060606", "#070707", "#080808", "#090909")
VARIABLES = {INK: "var(--ink)", GRID: "var(--grid)", CURVE: "var(--c0)", PAPER: "var(--c1)"}
VARIABLES |= {colour: f"var(--c{number})" for number, colour in enumerate(FURTHER, 2)}
"""Stand-ins in matplotlib's drawing, and what takes their place; PAPER is what a paper published."""
PAGE = "#ffffff"
LIGHT = {INK: "#1b1e23", GRID: "#dde0e5", CURVE: "#0b6bcb", PAPER: "#c2570c"}
LIGHT |= dict(zip(FURTHER, ("#2e8540", "#8a3ffc", "#b0184f", "#007d79", "#8a6d00"), strict=True))
"""Colours of a drawing in a file of its own, as page.css defines them for light pages."""
STYLE: dict[str, Any] = {
    "svg.fonttype": "none",  # text stays text: readable, searchable, in the page's font
    "svg.hashsalt": "sanlab",  # equal curves give equal bytes
    "text.parse_math": False,  # a `$` in a unit is a `$`
    "font.size": 11,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": GRID,
    "grid.linewidth": 0.8,
}
PUBLISHED: dict[str, Any] = {"linestyle": "", "marker": "D", "markersize": 6, "fillstyle": "none"}
MARKS = "os^vDP"
"""Markers of the curves in a figure, so that they differ not only by colour."""
MARKED = 64
"""Maximum number of points with individual markers."""
TICKS = 7
TIMES = ("ps", "ns", "us", "ms", "s")
SIZE_UNITS = ("B", "bytes")
"""Units of an axis of sizes, which are drawn on powers of two."""
LEGEND_ROW = 0.24
"""Height of a legend row in inches."""
WIDE = 50
"""Ratio of the largest to the smallest time above which an axis is logarithmic."""


Points = Sequence[tuple[float, float]]


def curve(series: Series, label: str, prefix: str, published: Points = ()) -> str:
    """Return one series as an `<svg>` element, with its points joined in order and published points."""
    return curves({"measured": series}, label, prefix, {"measured": published})


def curves(family: Mapping[str, Series], label: str, prefix: str, published: Mapping[str, Points]) -> str:
    """Return series of equal units in one figure as an `<svg>` element.

    Args:
        family: Series by name.
        label: Text for screen readers.
        prefix: Prefix of the ids, unique on the page.
        published: Published points of some of the series.
    """
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib.figure import Figure

    first = next(iter(family.values()))
    with mpl.rc_context(cast(Any, STYLE)):
        figure = Figure(figsize=(4.6, 3.1), layout="constrained")
        axes = figure.add_subplot()
        for (name, series), colour, mark in zip(family.items(), (CURVE, *FURTHER), MARKS, strict=False):
            marker = mark if len(series.x) <= MARKED else ""
            axes.plot(series.x, series.y, color=colour, linewidth=1.8, marker=marker, markersize=4, label=name)
        _add_published(axes, [published.get(name, ()) for name in family])
        if len(axes.get_lines()) > 1:  # above the axes, where it covers no curve
            rows = -(-len(axes.get_lines()) // 2)
            axes.legend(frameon=False, loc="lower left", bbox_to_anchor=(0, 1), ncols=2, fontsize=9)
            figure.set_figheight(3.1 + LEGEND_ROW * rows)
        axes.set_xlabel(first.x_unit)
        if names := named_places(first):
            axes.set_xticks(list(first.x), names)
            axes.set_xlabel(first.x_unit.partition(": ")[0])
        axes.set_ylabel(first.y_unit)
        if first.x_unit in SIZE_UNITS:
            _axis_of_sizes(axes, list(first.x))
        values = [y for series in family.values() for y in series.y]
        _axis_of_values(axes, [*values, *(y for some in published.values() for _, y in some)], first.y_unit)
        drawing = io.StringIO()
        figure.savefig(drawing, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    return embedded(drawing.getvalue(), label, prefix)


def named_places(series: Series) -> list[str]:
    """Return the names of the x values 0, 1, ... if the unit lists them, as in `code: BT CG`; else an empty list."""
    names = series.x_unit.partition(": ")[2].split()
    return names if list(series.x) == list(range(len(names))) else []


def _add_published(axes: Axes, points: Sequence[Points]) -> None:
    """Draw published points, in the colours of their curves if there are several; the first get a legend entry."""
    named = False
    for at, some in enumerate(points):
        if some:
            colour = PAPER if len(points) == 1 else (CURVE, *FURTHER)[at]
            axes.plot(*zip(*some, strict=True), **PUBLISHED, color=colour, label="_" if named else "published")
            named = True


def dots(rows: Sequence[tuple[str, float]], label: str, prefix: str) -> str:
    """Return ratios as dots around the line at 1, one row each, as an `<svg>` element."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib.figure import Figure

    with mpl.rc_context(cast(Any, STYLE)):
        figure = Figure(figsize=(4.6, 0.9 + 0.24 * len(rows)), layout="constrained")
        axes = figure.add_subplot()
        places = range(len(rows), 0, -1)
        axes.axvline(1.0, color=PAPER, linewidth=1.4)
        axes.plot([ratio for _, ratio in rows], list(places), "o", color=CURVE, markersize=6)
        axes.set_yticks(list(places), [str(number) for number in range(1, len(rows) + 1)])
        axes.set_ylim(0.4, len(rows) + 0.6)
        low, high = (pick([1.0, *(ratio for _, ratio in rows)]) for pick in (min, max))
        axes.set_xlim(min(low - 0.02, 0.9), max(high + 0.02, 1.1))
        axes.set_xlabel("measured / published")
        drawing = io.StringIO()
        figure.savefig(drawing, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    return embedded(drawing.getvalue(), label, prefix)


def _axis_of_sizes(axes: Axes, x: list[float]) -> None:
    """Set an axis of powers of two; 0 is to the left of the smallest size."""
    known = sorted(set(x))
    positive = [value for value in known if value > 0]
    if not positive:
        return
    if positive == known:
        axes.set_xscale("log", base=2)
    else:
        axes.set_xscale("symlog", base=2, linthresh=positive[0], linscale=0.8)
    ticks = _apart(known[:1] if known[0] <= 0 else [], positive)
    axes.set_xticks(ticks, [size(value) for value in ticks])
    axes.set_xticks([], minor=True)
    axes.set_xlabel("size")


def _apart(zero: list[float], positive: list[float]) -> list[float]:
    """Return at most TICKS of the sizes, from the largest on, whose distances leave room for their texts."""
    step = math.log2(positive[-1] / positive[0]) / (TICKS - 1 - len(zero)) if len(positive) > 1 else 0.0
    ticks = positive[-1:]
    for one in reversed(positive[:-1]):
        if math.log2(ticks[0] / one) >= 0.9 * step:
            ticks.insert(0, one)
    return zero + ticks


def _axis_of_values(axes: Axes, y: list[float], unit: str) -> None:
    if not y:
        return
    if unit in TIMES and min(y) > 0 and max(y) / min(y) > WIDE:
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter("{x:g}")
        axes.yaxis.set_minor_formatter("")
    elif min(y) >= 0:
        axes.set_ylim(bottom=0)


def coloured(svg: str) -> str:
    """Return a drawing as a separate file, with the light colours in place of the placeholders."""
    for colour, shown in LIGHT.items():
        svg = svg.replace(colour, shown)
    return svg


def embedded(svg: str, label: str, prefix: str) -> str:
    """Return an SVG file as an element of a page: without prologue and metadata, with unique ids and CSS variables."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<(metadata|style)\b.*?</\1>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'\bid="', f'id="{prefix}-', svg)
    svg = re.sub(r'href="#', f'href="#{prefix}-', svg)
    svg = svg.replace("url(#", f"url(#{prefix}-")
    for colour, variable in VARIABLES.items():
        svg = svg.replace(colour, variable)
    svg = re.sub(r" font-family: [^;\"]*;", "", svg)
    return svg.replace("<svg ", f'<svg role="img" aria-label="{escape(label)}" ', 1)
