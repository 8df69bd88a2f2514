"""HTML for notebooks: tables of a run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any


def page(title: str, metrics: Mapping[str, float], published: Sequence[Mapping[str, Any]]) -> str:
    """Return a run as HTML: its metrics, and published values next to measured ones."""
    parts = [f"<p><b>{escape(title)}</b></p>", table(("metric", "value"), metrics.items())]
    if published:
        rows = [[one[key] for key in ("name", "published", "measured", "kind")] for one in published]
        parts.append(table(("published value", "published", "measured", "kind"), rows))
    return "".join(parts)


def table(headings: Sequence[str], rows: Iterable[Iterable[object]]) -> str:
    """Return a table as HTML with escaped texts."""
    head = "".join(f"<th>{escape(heading)}</th>" for heading in headings)
    body = "".join(f"<tr>{''.join(f'<td>{escape(_cell(cell))}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(value: object) -> str:
    return "-" if value is None else f"{value:,.6g}" if isinstance(value, (int, float)) else str(value)
