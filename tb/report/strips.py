"""Strips: published value, interval, today's value and first value of a row on one axis, as SVG and as text.

All marks are ratios to the published value, on a logarithmic axis with the published value in its middle. Marks beyond
an end of the axis, and ratios that are not positive, are arrows at that end.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

WIDTH, HEIGHT, EDGE = 340, 20, 14
"""Width and height of a strip, and distance of its axis from both sides, in pixels."""
COLUMNS = 41
"""Width of a strip as text, in characters."""
REACHES = {1.25: (0.8, 1.0, 1.25), 2.0: (0.5, 1.0, 2.0), 5.0: (0.2, 0.5, 1.0, 2.0, 5.0)}
"""Ticks of an axis by the greatest ratio on it."""
FARTHEST = 10.0
"""Greatest ratio on an axis; its ticks are TICKS."""
TICKS = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
LEGEND = "diamond: published; dot: measured; ring: first run; bar: interval; arrow: beyond the axis"
TEXT_LEGEND = "`|` published, `*` measured, `o` first run, `=` interval, `<` and `>` beyond the axis"


@dataclass(frozen=True)
class Marks:
    """Marks of a row, as ratios to the published value; None: no such mark."""

    today: float | None = None
    first: float | None = None
    low: float | None = None
    high: float | None = None

    @property
    def ratios(self) -> list[float]:
        """All ratios of the row."""
        return [one for one in (self.today, self.first, self.low, self.high) if one is not None]

    @property
    def interval(self) -> tuple[float, float] | None:
        """Ends of the interval, or None without one."""
        return (self.low, self.high) if self.low is not None and self.high is not None else None


@dataclass(frozen=True)
class Axis:
    """Logarithmic axis from `1 / reach` to `reach`."""

    reach: float
    ticks: tuple[float, ...]

    def place(self, ratio: float) -> float:
        """Return the place of a ratio: 0 at the left end, 1 at the right end, outside of both if it is beyond."""
        if ratio <= 0 or not math.isfinite(ratio):
            return math.inf if ratio > 0 else -math.inf
        return 0.5 + 0.5 * math.log(ratio) / math.log(self.reach)


def axis(rows: Iterable[Marks]) -> Axis:
    """Return the shortest axis that has all marks, or the longest if none has."""
    distances = [max(one, 1 / one) for row in rows for one in row.ratios if one > 0]
    for reach, ticks in REACHES.items():
        if max(distances, default=1.0) <= reach:
            return Axis(reach, ticks)
    return Axis(FARTHEST, TICKS)


def strip(marks: Marks, on: Axis, label: str) -> str:
    """Return a row as an `<svg>` element.

    Args:
        marks: Marks of the row.
        on: Axis, common to the rows of a table.
        label: Text for screen readers.
    """
    parts = [f'<path d="M{_x(on, tick):.1f} 0V{HEIGHT}" stroke="var(--grid)"/>' for tick in on.ticks]
    middle, axis_y = _x(on, 1.0), HEIGHT / 2
    parts.append(f'<path d="M{middle:.1f} 0V{HEIGHT}" stroke="var(--c1)" stroke-width="1.2"/>')
    if marks.interval:
        left, right = (_x(on, end) for end in marks.interval)
        parts.append(
            f'<rect x="{left:.1f}" y="{axis_y - 5:g}" width="{max(right - left, 1.5):.1f}" height="10" '
            'fill="var(--fill)"/>'
        )
    diamond = f"M{middle:.1f} {axis_y - 5:g}l5 5l-5 5l-5 -5z"
    parts.append(f'<path d="{diamond}" fill="var(--paper)" stroke="var(--c1)" stroke-width="1.6"/>')
    if marks.first is not None:
        parts.append(_mark(on, marks.first, 'fill="none" stroke="var(--soft)" stroke-width="1.6"'))
    if marks.today is not None:
        parts.append(_mark(on, marks.today, 'fill="var(--c0)"'))
    return _svg(parts, label)


def ruler(on: Axis) -> str:
    """Return the numbers of an axis as an `<svg>` element, for the heading of the strips."""
    parts = [
        f'<text x="{_x(on, tick):.1f}" y="14" text-anchor="middle" font-size="11" fill="var(--soft)">{tick:g}</text>'
        for tick in on.ticks
    ]
    return _svg(parts, "ratio to the published value")


def text_strip(marks: Marks, on: Axis) -> str:
    """Return a row as text of COLUMNS characters."""
    cells = [" "] * COLUMNS
    for tick in on.ticks:
        cells[_column(on, tick)] = "."
    if marks.interval:
        first, last = (_column(on, end) for end in marks.interval)
        cells[first : last + 1] = "=" * (last - first + 1)
    cells[COLUMNS // 2] = "|"
    for ratio, mark in ((marks.first, "o"), (marks.today, "*")):
        if ratio is not None:
            place = on.place(ratio)
            cells[_column(on, ratio)] = "<" if place < 0 else ">" if place > 1 else mark
    return "".join(cells)


def text_ruler(on: Axis) -> str:
    """Return the numbers of an axis as text of COLUMNS characters, each around its tick."""
    cells = [" "] * COLUMNS
    for tick in on.ticks:
        word = f"{tick:g}"
        at = min(max(_column(on, tick) - len(word) // 2, 0), COLUMNS - len(word))
        cells[at : at + len(word)] = word
    return "".join(cells)


def _x(on: Axis, ratio: float) -> float:
    return EDGE + (WIDTH - 2 * EDGE) * min(max(on.place(ratio), 0.0), 1.0)


def _column(on: Axis, ratio: float) -> int:
    return round((COLUMNS - 1) * min(max(on.place(ratio), 0.0), 1.0))


def _mark(on: Axis, ratio: float, style: str) -> str:
    """Return a circle, or an arrow for a ratio beyond the axis."""
    place, x, y = on.place(ratio), _x(on, ratio), HEIGHT / 2
    if 0 <= place <= 1:
        return f'<circle cx="{x:.1f}" cy="{y:g}" r="4" {style}/>'
    along = -8 if place < 0 else 8
    return f'<path d="M{x:.1f} {y - 5:g}l{along} 5l{-along} 5z" {style}/>'


def _svg(parts: Sequence[str], label: str) -> str:
    head = f'<svg class="strip" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" role="img"'
    return f'{head} aria-label="{escape(label)}">{"".join(parts)}</svg>'
