"""The index of all reports: `sim_build/index.html`, rewritten after every run of a study."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from pathlib import Path
from urllib.parse import quote

from pymodels.results import Results, ResultsError, read_results, write_atomically
from tb.plan import studies
from tb.report import tables
from tb.report.page import document

FILE = "index.html"


def write_contents(out: Path) -> Path:
    """Write the index of the results below a folder, at once or not at all; its path. ResultsError as the disk says."""
    write_atomically(out / FILE, document("sanlab: all reports", _parts(out)))
    return out / FILE


def _parts(out: Path) -> Iterator[str]:
    yield "<header><h1>All reports</h1>"
    yield '<p class="soft">One for each study that was run here: its last run.</p></header>'
    folders = sorted(path.parent for path in out.glob("*/results.json") if (path.parent / "report.html").exists())
    if not folders:
        yield "<p>No study was run yet.</p>"
        return
    yield '<ul class="index">'
    for folder in folders:
        yield from _entry(folder)
    yield "</ul>"


def _entry(folder: Path) -> Iterator[str]:
    """One study: its question as a link, how it ended, under which circumstances."""
    try:
        results = read_results(folder / "results.json")
    except ResultsError as error:
        yield f'<li><strong>{escape(folder.name)}</strong><p class="soft">{escape(error.what)}: run it again</p></li>'
        return
    failures = folder / "failures.txt"
    failed = failures.exists() and failures.read_text(encoding="utf-8").strip()
    verdict = '<span class="bad">failed</span>' if failed else '<span class="good">passed</span>'
    told = f"{escape(results.study)} · {escape(tables.told(results))} · {verdict}"
    yield f'<li><a href="{quote(folder.name)}/report.html">{escape(_question(results))}</a>'
    yield f'<p class="soft">{told}{_agreement(results)}</p></li>'


def _question(results: Results) -> str:
    """What the study asks; its name where it is no longer there."""
    return studies.load(results.study).question if results.study in studies.names() else results.study


def _agreement(results: Results) -> str:
    ratios = [row.ratio for row in results.published if row.ratio is not None]
    if not ratios:
        return ""
    return f" · {len(ratios)} published values, measured / published {min(ratios):.2f} to {max(ratios):.2f}"
