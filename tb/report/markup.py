"""Pieces of a page: sections, tables, bars. Every text is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape

from tb.report.tables import Table

COLOURS = 16
"""As many as page.css has."""
STACKED = 4
"""A table of more columns than this is shown row under row on a phone."""
FOLDED = 24
"""A table of more rows than this is folded."""
NARROW = 0.04
"""A part of a bar below this share is too narrow for its number."""


def section(title: str, table: Table, headed: bool = True) -> Iterator[str]:
    """A headed table; nothing when it is empty."""
    if table:
        yield f"<h2>{escape(title)}</h2>"
        yield from folded(html_table(table, headed=headed), len(table.rows))


def folded(table: Iterable[str], rows: int) -> Iterator[str]:
    """Yield a table, folded where it has many rows."""
    if rows <= FOLDED:
        yield from table
        return
    yield f"<details><summary>{rows} rows</summary>"
    yield from table
    yield "</details>"


def html_table(table: Table, keys: Sequence[str] = (), headed: bool = True, stacks: bool = True) -> Iterator[str]:
    """A table that scrolls by itself on a narrow screen. `keys` is markup before the first cell of each row.

    `stacks`: one of many columns is shown row under row on a phone.
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
    """Yield a stacked bar; numbers name its parts.

    Args:
        parts: Text and share of each part.
        label: What a screen reader says.
        share_of_longest: Length of the bar where bars have a common scale, 0 to 1.
    """
    scaled = f' style="--of: {100 * share_of_longest:.2f}%"' if share_of_longest < 1 else ""
    yield f'<div class="bar" role="img" aria-label="{escape(label)}"{scaled}>'
    for index, (told, share) in enumerate(parts):
        mark = str(index + 1) if share > NARROW else ""
        style = f"flex: {share:.6f} 0 0"
        yield f'<span class="k{index % COLOURS}" style="{style}" title="{escape(told)}">{mark}</span>'
    yield "</div>"


def keys(count: int) -> list[str]:
    """The numbers of a bar's parts in their colours, for the rows of a table."""
    return [f'<span class="key k{index % COLOURS}">{index + 1}</span>' for index in range(count)]


def _kind(table: Table, column: int) -> str:
    return "" if column < table.words else ' class="n"'


def _heading(table: Table, column: int) -> str:
    return f' data-heading="{escape(table.headings[column])}"'
