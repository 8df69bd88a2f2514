"""One page for many runs: every published value beside what was measured, every curve, and the way to each report.

Rows and curves are taken from the results of the runs, so the page knows no study by name. It is one file that fetches
nothing, as the reports are; links lead to the reports beside it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby
from pathlib import Path

from pymodels.results import Comparison, Results, write_atomically
from tb.report import tables
from tb.report.families import families
from tb.report.figure import curves
from tb.report.markup import html_table
from tb.report.page import document
from tb.report.tables import Table

INDEX = "index.html"


@dataclass(frozen=True)
class Entry:
    """A run on the page: what it asked, its results (None: it left none), what failed, where its report is."""

    name: str
    question: str
    results: Results | None
    failures: tuple[str, ...]
    link: str
    """From the page, with slashes."""


def write_index(folder: Path, title: str, note: str, entries: Sequence[Entry], refresh_s: int = 0) -> Path:
    """Write `index.html`, at once or not at all; return its path.

    Args:
        folder: Where the page goes.
        title: Title of the page.
        note: Text under it.
        entries: The runs.
        refresh_s: Seconds after which a browser loads the page again; 0: never.

    Raises:
        ResultsError: The disk refuses.
    """
    path = folder / INDEX
    write_atomically(path, document(title, index(title, note, entries), refresh_s))
    return path


def index(title: str, note: str, entries: Sequence[Entry]) -> Iterator[str]:
    """The body of the page."""
    failed = sum(1 for entry in entries if entry.failures)
    passed = '<span class="good">all passed</span>' if entries else "none has ended"
    verdict = f'<span class="bad">{failed} failed</span>' if failed else passed
    yield f"<header><h1>{escape(title)}</h1>"
    yield f'<p class="soft">{escape(note)} · {len(entries)} runs, {verdict}</p></header>'
    yield from _contents(entries)
    yield from _published(entries)
    for number, entry in enumerate(entries):
        yield from _entry(number, entry)


def _contents(entries: Sequence[Entry]) -> Iterator[str]:
    yield "<h2>What was asked</h2>\n<ul>"
    for number, entry in enumerate(entries):
        mark = ' <span class="bad">failed</span>' if entry.failures else ""
        yield f'<li><a href="#r{number}">{escape(entry.name)}</a>: {escape(entry.question)}{mark}</li>'
    yield "</ul>"


def _published(entries: Sequence[Entry]) -> Iterator[str]:
    """Every published value, table by table and figure by figure of the papers."""
    rows = [row for entry in entries if entry.results for row in entry.results.published]
    if not rows:
        return
    yield "<h2>Published and measured</h2>"
    for source, group in groupby(sorted(rows, key=lambda row: row.source), key=lambda row: row.source):
        yield f"<h3>{escape(source)}</h3>"
        yield from html_table(_without_source(list(group)))


def _without_source(rows: Sequence[Comparison]) -> Table:
    """The rows of one source; the column that would say it on every row is left out."""
    table = tables.published(rows)
    kept = [at for at, heading in enumerate(table.headings) if heading != "source"]
    headings = tuple(table.headings[at] for at in kept)
    return Table(headings, tuple(tuple(row[at] for at in kept) for row in table.rows), table.words - 1)


def _entry(number: int, entry: Entry) -> Iterator[str]:
    """One run: its curves, and links to the rest."""
    yield f'<h2 id="r{number}">{escape(entry.question)}</h2>'
    told = tables.told(entry.results) if entry.results else "no results"
    report = f' · <a href="{escape(entry.link)}">report</a>' if entry.results else ""
    yield f'<p class="soft"><code>{escape(entry.name)}</code> · {escape(told)}{report}</p>'
    if entry.failures:
        lines = "".join(f"<li>{escape(line)}</li>" for line in entry.failures)
        yield f'<div class="failures"><strong class="bad">What failed</strong><ul>{lines}</ul></div>'
    if entry.results is None:
        return
    yield from html_table(tables.sizes(entry.results.metrics)) if tables.sizes(entry.results.metrics) else ()
    drawn = families(entry.results.series)
    if drawn:
        yield '<div class="figures">'
        for at, family in enumerate(drawn):
            first = next(iter(family.curves.values()))
            yield f"<figure><h3>{escape(family.title)}</h3>"
            yield curves(family.curves, f"{family.title}, {first.y_unit} over {first.x_unit}", f"r{number}f{at}", {})
            yield "</figure>"
        yield "</div>"
