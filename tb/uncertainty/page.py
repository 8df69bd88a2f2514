"""Page of a study's uncertainty: for each figure a tornado plot, the interval, and the values that affect it."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from html import escape
from typing import Any, cast

from tb.report.figure import CURVE, FURTHER, GRID, INK, PAPER, STYLE, embedded
from tb.report.markup import html_table
from tb.report.page import document
from tb.report.tables import Table, number
from tb.uncertainty.spread import Figure

SHOWN = 10
"""Maximum number of values shown for a figure, strongest first."""


def page(title: str, note: str, figures: Sequence[Figure], ranges: Table, failed: Sequence[str]) -> str:
    """Return the page. `failed` has the failed points with their reasons."""
    return document(title, _body(title, note, figures, ranges, failed))


def _body(title: str, note: str, figures: Sequence[Figure], ranges: Table, failed: Sequence[str]) -> Iterator[str]:
    yield f"<header><h1>{escape(title)}</h1>"
    yield f'<p class="soft">{escape(note)}</p></header>'
    yield from (f'<p class="bad">failed: {escape(line)}</p>' for line in failed)
    yield from html_table(summary(figures))
    for at, one in enumerate(figures):
        yield f"<h2>{escape(one.name)}</h2>"
        if one.swings:
            yield f'<div class="figures"><figure>{tornado(one, f"t{at}")}</figure></div>'
        yield from html_table(swings(one))
    yield "<h2>Ranges of uncertain values</h2>"
    yield from html_table(ranges)


def summary(figures: Sequence[Figure]) -> Table:
    """Return the table of figures with their intervals."""
    rows = (
        (
            one.name,
            number(one.published),
            number(one.measured),
            number(one.low),
            number(one.median),
            number(one.high),
            "inside" if one.low <= one.published <= one.high else "outside",
            str(one.drawn) + (f", {one.failed} failed" if one.failed else ""),
        )
        for one in figures
    )
    return Table(("figure", "published", "measured", "5 %", "median", "95 %", "published is", "draws"), tuple(rows))


def swings(one: Figure) -> Table:
    """Return the table of the strongest values of a figure, with the figure at both ends of their ranges."""
    rows = ((swing.key, *(_bound(end) for end in (swing.low, swing.high))) for swing in one.swings[:SHOWN])
    return Table(("value", f"at its minimum, {one.unit}", f"at its maximum, {one.unit}"), tuple(rows))


def _bound(end: float | None) -> str:
    return "failed" if end is None else number(end)


def tornado(one: Figure, prefix: str) -> str:
    """Return a tornado plot as an `<svg>` element.

    The plot has two bars for each value, from the measured figure to the figures at the ends of the value's range. The
    bar of the lower end is light, the other dark. Lines mark the interval and the published value.
    """
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib.figure import Figure as Drawing

    shown = one.swings[:SHOWN]
    with mpl.rc_context(cast(Any, STYLE)):
        drawing = Drawing(figsize=(4.6, 1.5 + 0.32 * len(shown)), layout="constrained")
        axes = drawing.add_subplot()
        places = range(len(shown), 0, -1)
        axes.axvspan(one.low, one.high, color=GRID)
        for ends, shade in (([swing.low for swing in shown], 0.45), ([swing.high for swing in shown], 1.0)):
            widths = [0.0 if end is None else end - one.measured for end in ends]
            axes.barh(places, widths, left=one.measured, color=CURVE, alpha=shade, height=0.6)
        axes.axvline(one.measured, color=INK, linewidth=1)
        axes.axvline(one.published, color=PAPER, linewidth=1.6, linestyle="--")
        axes.axvline(one.median, color=FURTHER[0], linewidth=1, linestyle=":")
        axes.set_yticks(list(places), [swing.key for swing in shown], fontsize=9)
        axes.set_xlabel(
            f"{one.unit}; light: value at its minimum\ndashed: published; grey: 90 % of the draws", fontsize=9
        )
        text = io.StringIO()
        drawing.savefig(text, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    label = (
        f"effects on {one.name}: published {number(one.published)}, 90 % from {number(one.low)} to {number(one.high)}"
    )
    return embedded(text.getvalue(), label, prefix)
