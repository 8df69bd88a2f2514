"""Report of a run: one self-contained HTML file without network access and scripts.

Its order: question, failures, curves with published points, published next to measured values, sizes, stages,
utilisation, other metrics, wall time. All texts are escaped; colours follow the reader's light or dark theme.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from itertools import chain
from pathlib import Path

from pymodels.results import Kind, Results, Series, write_atomically
from pymodels.topology import Topology
from tb.report import executed, tables
from tb.report.analysis import Analysis, stages, used
from tb.report.families import families
from tb.report.figure import curves, dots
from tb.report.markup import bar, html_table, keys, section
from tb.report.measured import definition, with_definitions
from tb.report.network import picture
from tb.report.published_points import published_points, ratios
from tb.report.tables import Described, Stage, Table

CSS = Path(__file__).with_name("page.css")
LISTED = 200
"""Maximum number of points for which a curve's numbers are listed."""
BESIDE = {
    "results.json": "all results, for programs",
    "stuck.txt": "report of waits at the hang",
    "timeline.json": "timeline, for Perfetto",
    executed.FILE: "clocks of the NICs' processors by function and line, for programs",
    "packets.pcapng": "packets, for Wireshark",
    "waves.fst": "waveforms, for GTKWave or Surfer",
    "waves.gtkw": "view of the waveforms, for GTKWave",
    "waves.sucl": "view of the waveforms, for Surfer",
    "measure.html": "intervals in the waveforms",
    "trace.npy": "trace of all units, for numpy",
    "sim.log": "output of the simulator",
}
NO_NETWORK = "default-src 'none'; style-src 'unsafe-inline'"


def write_page(
    folder: Path,
    info: Described,
    results: Results,
    failures: Sequence[str],
    analysis: Analysis | None = None,
    topology: Topology | None = None,
) -> Path:
    """Write `report.html` atomically next to the results and return its path.

    Args:
        folder: Folder of the results.
        info: Name and question of the study.
        results: Results of the run.
        failures: Failures of the run.
        analysis: Analysis of the trace.
        topology: Network, if any.

    Raises:
        ResultsError: Writing failed.
    """
    path = folder / "report.html"
    write_atomically(path, page(folder, info, results, failures, analysis or Analysis(), topology))
    return path


def page(
    folder: Path,
    info: Described,
    results: Results,
    failures: Sequence[str],
    analysis: Analysis,
    topology: Topology | None = None,
) -> str:
    """Return the page as text."""
    parts = (
        _head(folder, info, results, failures),
        _figures(results),
        _published(results),
        section("Sizes", tables.sizes(results.metrics)),
        stages(analysis) if analysis.breakdowns else _stages(tables.stages(results.metrics)),
        used(analysis),
        executed.sections(folder),
        _note(analysis.note),
        _network(topology) if topology else (),
        section("Conditions", tables.conditions(results.metrics)),
        section("Metrics", with_definitions(results.study, tables.others(results.metrics))),
        _cost(results),
        _followed_from(results),
        _beside(folder),
    )
    return document(info.name, chain.from_iterable(parts))


def document(title: str, parts: Iterable[str], refresh_s: int = 0) -> str:
    """Return a self-contained page around the parts of its body.

    Args:
        title: Title of the page.
        parts: Markup of the body.
        refresh_s: Seconds after which browsers reload the page; 0: never.
    """
    again = [f'<meta http-equiv="refresh" content="{refresh_s}">'] if refresh_s else []
    return "\n".join(
        (
            "<!DOCTYPE html>",
            '<html lang="en">',
            '<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">',
            f'<meta http-equiv="Content-Security-Policy" content="{NO_NETWORK}">',
            *again,
            f"<title>{escape(title)}</title>",
            f"<style>\n{CSS.read_text(encoding='utf-8')}</style></head>",
            "<body>",
            *parts,
            "</body>",
            "</html>\n",
        )
    )


def _head(folder: Path, info: Described, results: Results, failures: Sequence[str]) -> Iterator[str]:
    verdict = '<span class="bad">failed</span>' if failures else '<span class="good">passed</span>'
    yield f"<header><h1>{escape(info.question)}</h1>"
    yield f'<p class="soft"><code>{escape(info.name)}</code> · {escape(tables.inputs(results))} · {verdict}</p>'
    yield from _run_line(results)
    if links := [f'<a href="{name}">{name}</a>' for name in _left(folder)]:
        yield f'<p class="soft files">{" ".join(links)}</p>'
    yield "</header>"
    if results.warnings:
        lines = "".join(f"<li>{escape(line)}</li>" for line in results.warnings)
        yield f'<div class="warnings"><strong>Warnings</strong><ul>{lines}</ul></div>'
    if failures:
        lines = "".join(f"<li>{escape(line)}</li>" for line in failures)
        yield f'<div class="failures"><strong class="bad">Failures</strong><ul>{lines}</ul></div>'


def _run_line(results: Results) -> Iterator[str]:
    """Yield date and command of the run."""
    began = tables.start_time(results)
    yield f'<p class="soft">{f"{escape(began)} · " if began else ""}<code>{escape(tables.command(results))}</code></p>'


def _left(folder: Path) -> list[str]:
    """Return the names of the run's other files."""
    return [name for name in BESIDE if (folder / name).exists()]


def _figures(results: Results) -> Iterator[str]:
    drawn = families(results.series)
    if not drawn:
        return
    yield '<h2>Curves</h2>\n<div class="figures">'
    for index, family in enumerate(drawn):
        beside = {name: published_points(one, results) for name, one in family.curves.items()}
        first = next(iter(family.curves.values()))
        yield f"<figure><h3>{escape(family.title)}</h3>"
        said = f"{family.title}, {first.y_unit} over {first.x_unit}"
        said += ", with the published points" if any(beside.values()) else ""
        yield curves(family.curves, said, f"f{index}", beside)
        yield from _defined(results.study, family.names)
        yield from _points(family.curves)
        yield "</figure>"
    yield "</div>"


def _defined(study: str, names: Iterable[str]) -> Iterator[str]:
    """Yield the definitions of a figure's curves."""
    known = (definition(study, "series", name) for name in names)
    texts = dict.fromkeys(one.text for one in known if one)
    if texts:
        yield f"<figcaption>{escape('; '.join(texts))}</figcaption>"


def _points(curves_of: Mapping[str, Series]) -> Iterator[str]:
    """Yield the points of a figure as numbers, one column a curve."""
    first, *others = curves_of.values()
    if len(first.x) > LISTED:
        yield f"<figcaption>{len(first.x)} points: the numbers are in results.json</figcaption>"
        return
    columns = (first.x, *(one.y for one in (first, *others)))
    rows = tuple(tuple(tables.number(value) for value in row) for row in zip(*columns, strict=False))
    heads = (f"{name}, {first.y_unit}" for name in curves_of) if others else (first.y_unit,)
    yield f"<details><summary>{len(rows)} points</summary>"
    yield from html_table(Table((first.x_unit, *heads), rows, words=0))
    yield "</details>"


def _network(topology: Topology) -> Iterator[str]:
    said = f"{len(topology.hosts)} hosts, {len(topology.switches)} switches, {len(topology.links)} cables"
    yield f"<h2>Network</h2><p class=soft>{said}</p>{picture(topology, said)}"


def _stages(parts: Sequence[Stage]) -> Iterator[str]:
    """Yield the stages that the study itself reported, as a stacked bar and a table."""
    if not parts:
        return
    yield "<h2>Latency of a message by stage</h2>"
    labels = [(f"{part.name}: {part.us:.3f} us, {tables.percent(part.share)}", part.share) for part in parts]
    yield from bar(labels, f"{len(parts)} stages, in the table below")
    yield from html_table(tables.stage_table(parts), keys(len(parts)))


def _published(results: Results) -> Iterator[str]:
    rows = results.published
    if not rows:
        return
    yield from section("Published and measured", tables.published(rows))
    kinds = [kind for kind in Kind if any(row.kind is kind for row in rows)]
    yield f'<p class="soft">{"; ".join(f"{kind.value}: {tables.KINDS[kind]}" for kind in kinds)}.</p>'
    marked = ratios(rows)
    if marked:
        said = f"measured over published, {len(marked)} values, as in the table above"
        yield f'<div class="figures"><figure><h3>measured / published</h3>{dots(marked, said, "ratios")}</figure></div>'


def _cost(results: Results) -> Iterator[str]:
    """Yield the use of the wall time as a bar, and other costs of the run."""
    yield "<h2>Cost of this run</h2>"
    parts = tables.wall(results)
    if parts:
        labels = [(f"{name}: {tables.percent(share)} of the wall time", share) for name, share in parts]
        yield from bar(labels, "parts of the wall time, as in the table below")
        yield from html_table(tables.wall_table(parts), keys(len(parts)), headed=False)
    other = tuple(row for row in tables.cost(results).rows if row[0] not in dict(parts))
    yield from html_table(Table(("cost", ""), other), headed=False)


def _followed_from(results: Results) -> Iterator[str]:
    """Yield the inputs of the results: versions, commits, and all settings in force."""
    run, settings = tables.provenance(results), tables.settings(results)
    if run:
        yield "<h2>Inputs</h2>"
        yield from html_table(run, headed=False)
    if settings:
        yield f"<details><summary>{len(settings.rows)} settings in force, {len(results.given)} given</summary>"
        yield from html_table(settings)
        yield "</details>"


def _note(text: str) -> Iterator[str]:
    if text:
        yield f'<p class="soft">{escape(text)}.</p>'


def _beside(folder: Path) -> Iterator[str]:
    """Yield links to the run's other files."""
    found = _left(folder)
    if found:
        items = (f'<li><a href="{name}">{name}</a>: {BESIDE[name]}</li>' for name in found)
        yield f"<h2>Other files</h2>\n<ul>{''.join(items)}</ul>"
