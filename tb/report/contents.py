"""Index of all reports: `sim_build/index.html`, rewritten after every run of a study."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from pathlib import Path
from urllib.parse import quote

from pymodels.errors import SanlabError
from pymodels.results import WALL, Results, ResultsError, read_results, write_atomically
from tb.plan import studies
from tb.report import tables
from tb.report.page import document
from tb.tools.workplace import MANIFEST, alone

FILE = "index.html"
KEY_FIGURES = 4
"""Number of metrics that the index shows for each run: the first metrics that the study reports."""
TITLE = "sanlab: all reports"
"""Title that identifies an index and distinguishes it from foreign pages."""


def write_contents(out: Path) -> Path:
    """Write the index of the results below a folder atomically and return its path. Raises ResultsError if
    that fails.
    """
    path = out / FILE
    with alone(out):  # other commands list their own runs afterwards
        if path.exists() and TITLE not in path.read_text(encoding="utf-8", errors="replace"):
            raise ResultsError("index not written", f"{path} is not an index of reports", "move the file away")
        write_atomically(path, document(TITLE, _parts(out)))
    return path


def _parts(out: Path) -> Iterator[str]:
    yield "<header><h1>All reports</h1>"
    yield '<p class="soft">The last run of each study, newest first.</p></header>'
    folders = sorted((path for path in out.iterdir() if _is_run(path)), key=_age)
    if not folders:
        yield "<p>No study has been run.</p>"
        return
    yield '<ul class="index">'
    for folder in folders:
        yield from _entry(folder)
    yield "</ul>"


def _is_run(folder: Path) -> bool:
    """Return True if a folder has a report, or only failures."""
    if folder.name.startswith("."):
        return False
    if (folder / "results.json").exists():
        return (folder / "report.html").exists()
    return (folder / MANIFEST).exists() and bool(_failures(folder))


def _age(folder: Path) -> tuple[float, str]:
    """Return a key that sorts runs by the time of their results, newest first, then by name."""
    written = [file.stat().st_mtime for name in ("results.json", "failures.txt") if (file := folder / name).exists()]
    return -max(written, default=0.0), folder.name


def _failures(folder: Path) -> str:
    try:
        return (folder / "failures.txt").read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


def _entry(folder: Path) -> Iterator[str]:
    """Yield one study: its question as a link, its outcome, and its inputs."""
    if not (folder / "results.json").exists():
        yield f'<li><strong>{escape(folder.name)}</strong><p class="soft"><span class="bad">failed</span>: '
        yield f"{escape(_failures(folder))}</p></li>"
        return
    try:
        results = read_results(folder / "results.json")
    except ResultsError as error:
        yield f'<li><strong>{escape(folder.name)}</strong><p class="soft">{escape(error.what)}: run it again</p></li>'
        return
    failures = _failures(folder)
    verdict = '<span class="bad">failed</span>' if failures else '<span class="good">passed</span>'
    text = f"{escape(results.study)} · {escape(tables.inputs(results))} · {verdict}"
    began = tables.start_time(results)
    yield f'<li><a href="{quote(folder.name)}/report.html">{escape(_question(results))}</a>'
    yield f'<p class="soft">{f"{escape(began)} · " if began else ""}{text}{_agreement(results)}</p>'
    if figures := key_figures(results):
        yield f"<p>{escape(figures)}</p>"
    if failures:
        yield f'<p class="bad">{escape(failures.splitlines()[0])}</p>'
    yield "</li>"


def key_figures(results: Results) -> str:
    """Return the first metrics of a run as one line, without stages and wall times."""
    names = [name for name in results.metrics if not name.startswith(WALL) and not tables.STAGE.fullmatch(name)]
    return ", ".join(f"{name} {tables.number(results.metrics[name])}" for name in names[:KEY_FIGURES])


def _question(results: Results) -> str:
    """Return the study's question, or its name if the study cannot be loaded."""
    try:
        return studies.load(results.study).question or results.study
    except SanlabError:
        return results.study


def _agreement(results: Results) -> str:
    ratios = [row.ratio for row in results.published if row.ratio is not None]
    if not ratios:
        return ""
    return f" · {len(ratios)} published values, measured / published {min(ratios):.2f} to {max(ratios):.2f}"
