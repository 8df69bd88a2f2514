"""Elements that the sections of the page of fidelity share: tables and paragraphs in Markdown and HTML."""

from __future__ import annotations

import re
from html import escape
from textwrap import wrap

from tb.report.tables import Table

CODE = re.compile("`([^`]*)`")


def text_table(table: Table) -> list[str]:
    """Return the lines of a table in Markdown."""
    lines = [f"| {' | '.join(table.headings)} |", "|" + "---|" * len(table.headings)]
    return lines + [f"| {' | '.join(row)} |" for row in table.rows]


def filled(text: str) -> list[str]:
    """Return the lines of a paragraph in Markdown."""
    return wrap(text, 120, break_long_words=False, break_on_hyphens=False)


def soft(text: str) -> str:
    """Return a paragraph in HTML. Stars are removed, and text between backticks becomes code."""
    marked = CODE.sub(r"<code>\1</code>", escape(text).replace("*", ""))
    return f'<p class="soft">{marked}</p>'
