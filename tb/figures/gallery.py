"""Page of `make figures`: failed runs first, then the tables and figures of the papers in their own order.

Each place of a paper has one line of what it says, its curves with published points, and its published values beside
the measured ones. Settings, command and report of its runs follow. Runs that belong to no place are listed last.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from html import escape
from pathlib import Path
from urllib.parse import quote

from pymodels.published import Published, load_published
from pymodels.results import Results, Series, write_atomically
from tb.figures.family_pictures import strip_table
from tb.figures.jobs import Job
from tb.figures.measured import measurement, typed
from tb.figures.papers import Drawing, Papers, Place, load_papers
from tb.figures.rows import Row, rows
from tb.figures.summary import Evidence
from tb.report import tables
from tb.report.contents import key_figures
from tb.report.families import MOST
from tb.report.figure import Points, curves
from tb.report.page import document
from tb.report.published_points import published_points
from tb.report.strips import LEGEND

INDEX = "index.html"
TITLE = "Figures and tables"


@dataclass(frozen=True)
class Entry:
    """Run on the page: job, results (None if it left none), and failures."""

    job: Job
    results: Results | None
    failures: tuple[str, ...]

    @property
    def link(self) -> str:
        """Path of the report relative to the page."""
        return f"{quote(self.job.name)}/report.html"


@dataclass(frozen=True)
class Gallery:
    """Content of the page: runs by name, all published rows as these runs measured them, and the runs of each row."""

    papers: Papers
    entries: Mapping[str, Entry]
    found: Mapping[str, Row]
    measured_by: Mapping[str, str]

    def rows(self, place: Place) -> list[Row]:
        """Return the rows of a place in the order of `pymodels/published.toml`."""
        return [row for row in self.found.values() if place.has(row.value)]

    def runs(self, place: Place) -> list[Entry]:
        """Return the runs of a place: of its curves, of its rows, and further ones."""
        drawn = [curve.run for drawing in place.drawings for curve in drawing.curves]
        measured = [self.measured_by[row.value.name] for row in self.rows(place) if row.value.name in self.measured_by]
        return [self.entries[name] for name in dict.fromkeys((*drawn, *measured, *place.runs)) if name in self.entries]


def write_gallery(folder: Path, note: str, entries: Sequence[Entry], refresh_s: int = 0) -> Path:
    """Write `index.html` atomically and return its path.

    Args:
        folder: Folder of the page.
        note: Text below the title.
        entries: Runs.
        refresh_s: Seconds after which browsers reload the page; 0: never.

    Raises:
        ResultsError: Writing failed.
    """
    path = folder / INDEX
    write_atomically(path, document(TITLE, body(note, gallery(entries)), refresh_s))
    return path


def gallery(entries: Sequence[Entry], papers: Papers | None = None, values: Sequence[Published] = ()) -> Gallery:
    """Return the content of the page.

    Args:
        entries: Runs.
        papers: Papers and their places; those of the repository by default.
        values: Published values; those of the repository by default.
    """
    published = values or load_published()
    runs = [(one.job, one.results) for one in entries if one.results]
    by_name = {row.value.name: row for row in rows(published, runs, {}, {})}
    measured = {value.name: found[0].name for value in published if (found := measurement(value, runs))}
    known = {one.job.name: one for one in entries}
    return Gallery(papers or load_papers(), known, {one.name: by_name[one.name] for one in published}, measured)


def body(note: str, shown: Gallery) -> Iterator[str]:
    """Yield the body of the page."""
    entries = list(shown.entries.values())
    failed = [one for one in entries if one.failures]
    passed = '<span class="good">all passed</span>' if entries else "no run has ended"
    verdict = f'<span class="bad">{len(failed)} failed</span>' if failed else passed
    yield f"<header><h1>{TITLE}</h1>"
    yield f'<p class="soft">{escape(note)} · {len(entries)} runs, {verdict}</p>'
    yield f'<p class="soft">In tables, the axis is the ratio to the published value; {LEGEND}.</p></header>'
    yield from _failed(failed)
    places = {number: [one for one in shown.papers.of(number) if shown.runs(one)] for number in shown.papers.titles}
    links = [f'<a href="#paper-{number}">paper {number}</a>' for number, known in places.items() if known]
    yield f'<p class="files">{" ".join([*links, *_link_to_others(shown)])}</p>'
    for number, known in places.items():
        if known:
            yield f'<h2 id="paper-{number}">Paper {number}: {escape(shown.papers.titles[number])}</h2>'
        for place in known:
            yield from _place(shown.papers.places.index(place), place, shown)
        lacking = [place.place for place in shown.papers.of(number) if place not in known]
        if known and lacking:
            yield f'<p class="soft">Not measured by these runs: {escape("; ".join(lacking))}.</p>'
    yield from _others(shown)


def _failed(failed: Sequence[Entry]) -> Iterator[str]:
    """Yield the failed runs in one block: reasons, and the command that repeats each run."""
    if not failed:
        return
    yield '<div class="failures"><strong class="bad">Failed runs</strong><ul>'
    for one in failed:
        lines = "<br>".join(map(escape, one.failures))
        yield f"<li><strong>{escape(one.job.name)}</strong>: {lines}<br>{_run(one)}</li>"
    yield "</ul></div>"


def _run(one: Entry) -> str:
    """Return command with settings, other inputs and report of a run as one line."""
    parts = [f"<code>{escape(typed(one.job))}</code>"]
    if one.results:
        parts += [escape(tables.inputs(replace(one.results, given=()))), f'<a href="{escape(one.link)}">report</a>']
    return " · ".join(parts)


def _place(at: int, place: Place, shown: Gallery) -> Iterator[str]:
    """Yield one table, figure or section of a paper."""
    yield f'<section class="place"><h3 id="p{at}">{escape(place.place)}: {escape(place.title)}</h3>'
    yield f"<p>{escape(place.says)}</p>"
    drawn = [text for number, one in enumerate(place.drawings) for text in _drawing(f"p{at}d{number}", one, shown)]
    if drawn:
        yield from ('<div class="figures">', *drawn, "</div>")
    if found := shown.rows(place):
        yield from strip_table(found, Evidence(found, {}))
    for one in shown.runs(place):
        mark = '<span class="bad">failed</span> · ' if one.failures else ""
        yield f'<p class="soft run">{mark}{_run(one)}</p>'
    yield "</section>"


def _drawing(prefix: str, drawing: Drawing, shown: Gallery) -> Iterator[str]:
    """Yield the curves of one drawing with published points, at most MOST curves in a figure."""
    found = list(_curves(drawing, shown))
    for number in range(0, len(found), MOST):
        some = found[number : number + MOST]
        family = {label: series for label, series, _ in some}
        values = [row.value for row in shown.found.values()]
        points = {label: tuple(published_points(series, results, values)) for label, series, results in some}
        first = some[0][1]
        beside = ", with the published points" if any(points.values()) else ""
        yield f"<figure><h3>{escape(drawing.title)}</h3>"
        said = f"{drawing.title}: {first.y_unit} over {first.x_unit}{beside}"
        yield _drawn(tuple(family.items()), said, f"{prefix}f{number}", tuple(points.items()))
        yield "</figure>"


@lru_cache(maxsize=512)
def _drawn(
    family: tuple[tuple[str, Series], ...], said: str, prefix: str, points: tuple[tuple[str, Points], ...]
) -> str:
    """Return a drawing; a page that is written again while runs end does not draw equal curves again."""
    return curves(dict(family), said, prefix, dict(points))


def _curves(drawing: Drawing, shown: Gallery) -> Iterator[tuple[str, Series, Results]]:
    """Yield label, series and results of the curves that have points and the units of the first one."""
    units: tuple[str, str] | None = None
    for curve in drawing.curves:
        entry = shown.entries.get(curve.run)
        for name, series in entry.results.series.items() if entry and entry.results else ():
            label = curve.matched(name)
            if label is None or not series.x:
                continue
            units = units or (series.x_unit, series.y_unit)
            if (series.x_unit, series.y_unit) == units and entry and entry.results:
                yield label, series, entry.results


def others(shown: Gallery) -> list[Entry]:
    """Return the runs that belong to no place."""
    used = {one.job.name for place in shown.papers.places for one in shown.runs(place)}
    return [one for name, one in shown.entries.items() if name not in used]


def _link_to_others(shown: Gallery) -> list[str]:
    return ['<a href="#others">other runs</a>'] if others(shown) else []


def _others(shown: Gallery) -> Iterator[str]:
    """Yield the runs that belong to no place as a table."""
    found = others(shown)
    if not found:
        return
    yield '<h2 id="others">Other runs</h2>'
    yield '<div class="wide"><table><thead><tr><th>run</th><th>question, first results</th></tr></thead><tbody>'
    for one in found:
        name = escape(one.job.name)
        label = f'<a href="{escape(one.link)}">{name}</a>' if one.results else name
        mark = ' <span class="bad">failed</span>' if one.failures else ""
        told = f'<br><span class="soft">{escape(key_figures(one.results))}</span>' if one.results else ""
        yield f"<tr><td>{label}{mark}</td><td>{escape(one.job.info.question)}{told}</td></tr>"
    yield "</tbody></table></div>"
