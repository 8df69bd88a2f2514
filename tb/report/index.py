"""Page for many runs: published next to measured values, all curves, and links to the reports.

Rows and curves come from the results of the runs, so the page does not depend on the studies. It is one self-contained
file with links to the reports.
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
    """Run on the page: question, results (None if it left none), failures, and report."""

    name: str
    question: str
    results: Results | None
    failures: tuple[str, ...]
    link: str
    """Path of the report relative to the page, with slashes."""


def write_index(folder: Path, title: str, note: str, entries: Sequence[Entry], refresh_s: int = 0) -> Path:
    """Write `index.html` atomically and return its path.

    Args:
        folder: Folder of the page.
        title: Title of the page.
        note: Text below the title.
        entries: Runs.
        refresh_s: Seconds after which browsers reload the page; 0: never.

    Raises:
        ResultsError: Writing failed.
    """
    path = folder / INDEX
    write_atomically(path, document(title, index(title, note, entries), refresh_s))
    return path


def index(title: str, note: str, entries: Sequence[Entry]) -> Iterator[str]:
    """Yield the body of the page."""
    failed = sum(1 for entry in entries if entry.failures)
    passed = '<span class="good">all passed</span>' if entries else "no run has ended"
    verdict = f'<span class="bad">{failed} failed</span>' if failed else passed
    yield f"<header><h1>{escape(title)}</h1>"
    yield f'<p class="soft">{escape(note)} · {len(entries)} runs, {verdict}</p></header>'
    yield from _contents(entries)
    yield from _published(entries)
    for number, entry in enumerate(entries):
        yield from _entry(number, entry)


def _contents(entries: Sequence[Entry]) -> Iterator[str]:
    yield "<h2>Questions</h2>\n<ul>"
    for number, entry in enumerate(entries):
        mark = ' <span class="bad">failed</span>' if entry.failures else ""
        yield f'<li><a href="#r{number}">{escape(entry.name)}</a>: {escape(entry.question)}{mark}</li>'
    yield "</ul>"


def _published(entries: Sequence[Entry]) -> Iterator[str]:
    """Yield all published values, grouped by table and figure of the papers."""
    rows = [row for entry in entries if entry.results for row in entry.results.published]
    if not rows:
        return
    yield "<h2>Published and measured</h2>"
    for source, group in groupby(sorted(rows, key=lambda row: row.source), key=lambda row: row.source):
        yield f"<h3>{escape(source)}</h3>"
        yield from html_table(_without_source(list(group)))


def _without_source(rows: Sequence[Comparison]) -> Table:
    """Return the rows of one source without the column that repeats it."""
    table = tables.published(rows)
    kept = [at for at, heading in enumerate(table.headings) if heading != "source"]
    headings = tuple(table.headings[at] for at in kept)
    return Table(headings, tuple(tuple(row[at] for at in kept) for row in table.rows), table.words - 1)


def _entry(number: int, entry: Entry) -> Iterator[str]:
    """Yield one run: its curves, and links to its files."""
    yield f'<h2 id="r{number}">{escape(entry.question)}</h2>'
    text = tables.inputs(entry.results) if entry.results else "no results"
    report = f' · <a href="{escape(entry.link)}">report</a>' if entry.results else ""
    yield f'<p class="soft"><code>{escape(entry.name)}</code> · {escape(text)}{report}</p>'
    if entry.failures:
        lines = "".join(f"<li>{escape(line)}</li>" for line in entry.failures)
        yield f'<div class="failures"><strong class="bad">Failures</strong><ul>{lines}</ul></div>'
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
