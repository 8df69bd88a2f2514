"""The report of a run: one HTML file that needs nothing else, neither network nor script.

The question stands on top, then what failed, curves, sizes, stages, published values beside measured ones, other
metrics, and what the run cost. Every text is escaped; colours follow the reader's choice of light or dark.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from itertools import chain
from pathlib import Path

from pymodels.results import Comparison, Kind, Results, Series, write_atomically
from tb.report import tables
from tb.report.figure import curve
from tb.report.tables import Asked, Stage, Table

CSS = Path(__file__).with_name("page.css")
COLOURS = 8
"""As many as page.css has."""
LISTED = 200
"""Up to so many points of a curve are also listed."""
STACKED = 4
"""A table of more columns than this is shown row under row on a phone."""
BESIDE = {
    "results.json": "everything measured, for programs",
    "timeline.json": "timeline, for Perfetto",
    "packets.pcapng": "packets, for Wireshark",
    "waves.fst": "waveforms, for GTKWave or Surfer",
    "trace.npy": "trace of all units, for numpy",
    "sim.log": "what the simulator said",
}
NO_NETWORK = "default-src 'none'; style-src 'unsafe-inline'"


def write_page(folder: Path, info: Asked, results: Results, failures: Sequence[str]) -> Path:
    """Write `report.html` beside the results, at once or not at all; its path. ResultsError when the disk refuses."""
    path = folder / "report.html"
    write_atomically(path, page(folder, info, results, failures))
    return path


def page(folder: Path, info: Asked, results: Results, failures: Sequence[str]) -> str:
    """The whole page as text."""
    parts = (
        _head(info, results, failures),
        _figures(results.series.items()),
        _section("Sizes", tables.sizes(results.metrics)),
        _stages(tables.stages(results.metrics)),
        _published(results.published),
        _section("Metrics", tables.others(results.metrics)),
        _section("Cost of this run", tables.cost(results), headed=False),
        _beside(folder),
    )
    return document(info.name, chain.from_iterable(parts))


def document(title: str, lines: Iterable[str]) -> str:
    """A whole page around the lines of its body: self-contained, nothing is fetched."""
    return "\n".join(
        (
            "<!DOCTYPE html>",
            '<html lang="en">',
            '<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">',
            f'<meta http-equiv="Content-Security-Policy" content="{NO_NETWORK}">',
            f"<title>{escape(title)}</title>",
            f"<style>\n{CSS.read_text(encoding='utf-8')}</style></head>",
            "<body>",
            *lines,
            "</body>",
            "</html>\n",
        )
    )


def _head(info: Asked, results: Results, failures: Sequence[str]) -> Iterator[str]:
    verdict = '<span class="bad">failed</span>' if failures else '<span class="good">passed</span>'
    yield f"<header><h1>{escape(info.question)}</h1>"
    yield f'<p class="soft"><code>{escape(info.name)}</code> · {escape(tables.told(results))} · {verdict}</p></header>'
    if failures:
        lines = "".join(f"<li>{escape(line)}</li>" for line in failures)
        yield f'<div class="failures"><strong class="bad">What failed</strong><ul>{lines}</ul></div>'


def _figures(series: Iterable[tuple[str, Series]]) -> Iterator[str]:
    drawn = [(name, one) for name, one in series if one.x]
    if not drawn:
        return
    yield '<h2>Curves</h2>\n<div class="figures">'
    for index, (name, one) in enumerate(drawn):
        title = name.replace("_", " ")
        yield f"<figure><h3>{escape(title)}</h3>"
        yield curve(one, f"{title}, {one.y_unit} over {one.x_unit}", f"f{index}")
        yield from _points(one)
        yield "</figure>"
    yield "</div>"


def _points(series: Series) -> Iterator[str]:
    """The points of a curve for those who want numbers."""
    if len(series.x) > LISTED:
        yield f"<figcaption>{len(series.x)} points: the numbers are in results.json</figcaption>"
        return
    rows = tuple((tables.number(x), tables.number(y)) for x, y in zip(series.x, series.y, strict=False))
    yield f"<details><summary>{len(rows)} points</summary>"
    yield from html_table(Table((series.x_unit, series.y_unit), rows, words=0))
    yield "</details>"


def _stages(stages: Sequence[Stage]) -> Iterator[str]:
    """A stacked bar, and the same as a table; numbers tie the two together for those who see no colours."""
    if not stages:
        return
    yield "<h2>Where the time of one message goes</h2>"
    yield f'<div class="bar" role="img" aria-label="{len(stages)} stages, in the table below">'
    for index, stage in enumerate(stages):
        told = escape(f"{stage.name}: {stage.us:.3f} us, {tables.percent(stage.share)}")
        mark = str(index + 1) if stage.share > 0.04 else ""
        yield f'<span class="k{index % COLOURS}" style="flex: {stage.share:.6f} 0 0" title="{told}">{mark}</span>'
    yield "</div>"
    keys = [f'<span class="key k{index % COLOURS}">{index + 1}</span>' for index in range(len(stages))]
    yield from html_table(tables.stage_table(stages), keys)


def _published(rows: Sequence[Comparison]) -> Iterator[str]:
    yield from _section("Published and measured", tables.published(rows))
    kinds = [kind for kind in Kind if any(row.kind is kind for row in rows)]
    if kinds:
        yield f'<p class="soft">{"; ".join(f"{kind.value}: {tables.KINDS[kind]}" for kind in kinds)}.</p>'


def _section(title: str, table: Table, headed: bool = True) -> Iterator[str]:
    if table:
        yield f"<h2>{escape(title)}</h2>"
        yield from html_table(table, headed=headed)


def html_table(table: Table, keys: Sequence[str] = (), headed: bool = True) -> Iterator[str]:
    """A table that scrolls by itself on a narrow screen. `keys` is markup before the first cell of each row."""
    stacked = len(table.headings) > STACKED
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


def _kind(table: Table, column: int) -> str:
    return "" if column < table.words else ' class="n"'


def _heading(table: Table, column: int) -> str:
    return f' data-heading="{escape(table.headings[column])}"'


def _beside(folder: Path) -> Iterator[str]:
    """Links to what else the run left in its folder."""
    found = [(name, what) for name, what in BESIDE.items() if (folder / name).exists()]
    if found:
        items = (f'<li><a href="{name}">{name}</a>: {what}</li>' for name, what in found)
        yield f"<h2>Beside this page</h2>\n<ul>{''.join(items)}</ul>"
