"""Tables of measured intervals for a terminal, a page and a Parquet file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from pymodels.results import write_atomically
from tb.ask.intervals import NEVER, Intervals, Spread, histogram, spread
from tb.report.markup import bar, html_table, section
from tb.report.page import document
from tb.report.tables import Table

PAGE, TABLE = "measure.html", "measure.parquet"
SHOWN = 20
"""Maximum number of groups, and of intervals without an end, in the terminal."""
NS, US = 1_000.0, 1_000_000.0
FROM_US = 1_000_000_000.0
"""Length in ps from which on lengths are shown in us."""
SIDE = 40
"""Maximum length of a bar in characters."""


@dataclass(frozen=True)
class Measured:
    """Intervals with the conditions that define them."""

    conditions: Mapping[str, str]
    """Conditions and grouping signal as text, by option."""
    found: Intervals
    tick_ps: float
    """Unit of the file's times in ps."""
    each: str = ""
    """Name of the grouping signal as the user wrote it."""

    @property
    def unit(self) -> tuple[str, float]:
        """Name of the unit of lengths, and its number of file units."""
        longest = float(self.found.lengths.max(initial=0)) * self.tick_ps
        return ("us", US / self.tick_ps) if longest >= FROM_US else ("ns", NS / self.tick_ps)

    def length(self, ticks: float) -> str:
        """Return a length as text in `unit`."""
        return f"{ticks / self.unit[1]:,.3f}"


def spread_table(measured: Measured, most: int | None = None) -> Table:
    """Return the distribution of all intervals, and below it that of each group, the longest maximum first.

    Args:
        measured: Intervals.
        most: Maximum number of groups; None: all.
    """
    groups = sorted(((key, spread(some)) for key, some in measured.found.groups()), key=lambda row: -row[1].maximum)
    rows = [("all", spread(measured.found)), *((key or "(empty)", one) for key, one in groups[:most])]
    unit = measured.unit[0]
    headings = (measured.each or "", "count", *(f"{name} {unit}" for name in ("min", "median", "p99", "max")), "no end")
    return Table(headings, tuple((key, *_cells(measured, one)) for key, one in rows))


def _cells(measured: Measured, one: Spread) -> Iterator[str]:
    yield f"{one.count:,}"
    yield from (measured.length(v) if one.count else "-" for v in (one.minimum, one.median, one.p99, one.maximum))
    yield f"{one.endless:,}"


def bins(measured: Measured) -> list[tuple[str, int]]:
    """Return the rows of the histogram: range of lengths as text, and count."""
    unit = measured.unit[0]
    return [
        (f"{measured.length(a)} {unit}" if a == b else f"{measured.length(a)} to {measured.length(b)} {unit}", count)
        for a, b, count in histogram(measured.found.lengths)
    ]


def bars(measured: Measured) -> Iterator[str]:
    """Yield the lines of the histogram for a terminal."""
    rows = bins(measured)
    widest, most = (max((f(row) for row in rows), default=0) for f in (lambda row: len(row[0]), lambda row: row[1]))
    for text, count in rows:
        side = -(-count * SIDE // most)
        yield f"{text.rjust(widest)}  {'#' * side}{' ' if side else ''}{count:,}"


def endless(measured: Measured) -> list[str]:
    """Return a line for each interval without an end: its start, its key, and the reason."""
    some, each = measured.found, measured.each
    return [
        f"no end: begins at {some.begin[i] * measured.tick_ps / US:,.6f} us"
        + (f", {each} {some.keys[i]}" if some.keys else "")
        + (", WITHIN ends before TO occurs" if some.left[i] else ", TO does not occur again")
        for i in np.flatnonzero(~some.ended)
    ]


def write_page(measured: Measured, title: str, path: Path) -> None:
    """Write the page atomically: conditions, distribution, histogram, intervals without an end."""
    rows = bins(measured)
    most = max((count for _, count in rows), default=1)
    parts = [f"<header><h1>Intervals of {escape(title)}</h1></header>"]
    parts += html_table(Table(("option", "condition"), tuple(measured.conditions.items()), words=2), headed=False)
    parts += section("Distribution", spread_table(measured))
    parts.append("<h2>Histogram</h2>" if rows else "")
    for text, count in rows:
        parts.append(f"<p class=soft>{escape(text)}: {count:,}</p>")
        parts += bar([(f"{text}: {count:,}", 1.0)], f"{text}: {count:,}", max(count / most, 1e-4)) if count else ()
    parts += section("Intervals without an end", Table(("interval",), tuple((line,) for line in endless(measured))))
    write_atomically(path, document(f"intervals of {title}", parts))


def write_table(measured: Measured, path: Path) -> None:
    """Write the intervals as Parquet atomically.

    The columns are `begin_ps`, `end_ps` and `length_ps` (null without an end), `within` (False where WITHIN ended
    first), and `key`. Times are integers unless the file has units below 1 ps.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    some = measured.found
    tick: float = int(measured.tick_ps) if measured.tick_ps >= 1 else measured.tick_ps
    missing = some.end == NEVER
    end = np.where(missing, 0, some.end)
    columns: dict[str, Any] = {
        "begin_ps": pa.array(some.begin * tick),
        "end_ps": pa.array(end * tick, mask=missing),
        "length_ps": pa.array((end - some.begin) * tick, mask=missing),
        "within": pa.array(~some.left),
    }
    if some.keys:
        columns["key"] = pa.array(list(some.keys), pa.string())
    table: Any = pa.table(columns).replace_schema_metadata(dict(measured.conditions))
    file = pa.BufferOutputStream()
    pq.write_table(table, file)
    write_atomically(path, [file.getvalue().to_pybytes()])
