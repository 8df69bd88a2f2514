"""Elements of a page: sections, tables, bars. All texts are escaped."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape

from tb.report.tables import Table

COLOURS = 16
"""Number of bar colours in page.css."""
STACKED = 4
"""Number of columns above which a table is shown row by row on a phone."""
FOLDED = 24
"""Number of rows above which a table is folded."""
NARROW = 0.04
"""Share below which a part of a bar has no number."""


def section(title: str, table: Table, headed: bool = True) -> Iterator[str]:
    """Yield a table with a heading; nothing for an empty table."""
    if table:
        yield f"<h2>{escape(title)}</h2>"
        yield from folded(html_table(table, headed=headed), len(table.rows))


def folded(table: Iterable[str], rows: int) -> Iterator[str]:
    """Yield a table, folded if it has many rows."""
    if rows <= FOLDED:
        yield from table
        return
    yield f"<details><summary>{rows} rows</summary>"
    yield from table
    yield "</details>"


def html_table(table: Table, keys: Sequence[str] = (), headed: bool = True, stacks: bool = True) -> Iterator[str]:
    """Yield a table that scrolls on a narrow screen.

    Args:
        table: Table to show.
        keys: Markup before the first cell of each row.
        headed: True to show the headings.
        stacks: True to show a wide table row by row on a phone.
    """
    stacked = stacks and len(table.headings) > STACKED
    yield f'<div class="wide"><table{" class=stacked" if stacked else ""}>'
    if headed:
        cells = (f"<th{_kind(table, i)}>{escape(text)}</th>" for i, text in enumerate(table.headings))
        yield f"<thead><tr>{''.join(cells)}</tr></thead>"
    yield "<tbody>"
    for number, row in enumerate(table.rows):
        key = keys[number] if number < len(keys) else ""
        cells = (
            f"<td{_kind(table, i)}{_heading(table, i) if stacked else ''}>{key if not i else ''}{escape(text)}</td>"
            for i, text in enumerate(row)
        )
        yield f"<tr>{''.join(cells)}</tr>"
    yield "</tbody></table></div>"


def bar(parts: Sequence[tuple[str, float]], label: str, share_of_longest: float = 1.0) -> Iterator[str]:
    """Yield a stacked bar with numbered parts.

    Args:
        parts: Text and share of each part.
        label: Text for screen readers.
        share_of_longest: Relative length of the bar on a common scale, 0 to 1.
    """
    scaled = f' style="--of: {100 * share_of_longest:.2f}%"' if share_of_longest < 1 else ""
    yield f'<div class="bar" role="img" aria-label="{escape(label)}"{scaled}>'
    for index, (title, share) in enumerate(parts):
        mark = str(index + 1) if share > NARROW else ""
        style = f"flex: {share:.6f} 0 0"
        yield f'<span class="k{index % COLOURS}" style="{style}" title="{escape(title)}">{mark}</span>'
    yield "</div>"


def keys(count: int) -> list[str]:
    """Return the numbers of a bar's parts in their colours, for the rows of a table."""
    return [f'<span class="key k{index % COLOURS}">{index + 1}</span>' for index in range(count)]


def _kind(table: Table, column: int) -> str:
    return "" if column < table.words else ' class="n"'


def _heading(table: Table, column: int) -> str:
    return f' data-heading="{escape(table.headings[column])}"'
