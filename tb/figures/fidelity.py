"""`python -m tb.figures.fidelity`: every published value beside what the last `make figures` measured, as a page.

The rows are those of `pymodels/published.toml`, in its order; the measured values and the commands come from the runs
of `make figures` in `sim_build/figures`. The page stands beside this file, so that it can be read without a run.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from pymodels.published import ANY, Published, load_published
from pymodels.results import Kind, Results, ResultsError, read_results, write_atomically
from tb.figures.jobs import Job, jobs
from tb.plan import studies
from tb.report.tables import KINDS, number
from tb.report.terminal import exit_code
from tb.tools.paths import OUT, SIMULATORS

PAGE = Path(__file__).with_name("fidelity.md")
HEADINGS = ("value", "kind", "published", "first", "measured", "measured / published", "command")
NOT_MEASURED = "-"
OUTSIDE = "outside"
"""Of a measured value that misses the agreement that is asked for."""


def page(rows: Iterable[Published], runs: Sequence[tuple[Job, Results]]) -> str:
    """The page as Markdown: one table for each table or figure of the papers."""
    return "\n".join([*_head(), *_tables(rows, runs), ""])


def _head() -> Iterator[str]:
    yield "# Published and measured"
    yield ""
    yield "Written by `.venv/bin/python -m tb.figures.fidelity` from `pymodels/published.toml` and the runs of the last"
    yield "`make figures`. What the kinds mean, and why values differ: [figures](README.md)."
    yield ""
    yield from (f"- **{kind.value}**: {meaning}." for kind, meaning in KINDS.items())
    yield ""
    yield "*First* is the value that the first run of the study gave, before anything was changed in view of it. Of"
    yield "one marked *recovered* only the oldest value that a page of this repository showed is known. *Outside*: not"
    yield "as near to the published value as `within` in the file asks for."


def _tables(rows: Iterable[Published], runs: Sequence[tuple[Job, Results]]) -> Iterator[str]:
    by_source: dict[str, list[Published]] = {}
    for row in rows:
        by_source.setdefault(row.source, []).append(row)
    for source, group in by_source.items():
        yield from ("", f"## {source[0].upper()}{source[1:]}", "")
        yield f"| {' | '.join(HEADINGS)} |"
        yield "|" + "---|" * len(HEADINGS)
        yield from (_row(row, runs) for row in group)


def _row(row: Published, runs: Sequence[tuple[Job, Results]]) -> str:
    found = measurement(row, runs)
    measured, ratio, command = NOT_MEASURED, "", ""
    if found is not None:
        job, value = found
        measured, command = number(value), f"`{typed(job)}`"
        ratio = ", ".join(_comparison(row, value))
    cells = (row.name, row.kind.value, f"{number(row.value)} {row.unit}", first_look(row), measured, ratio, command)
    return f"| {' | '.join(cells)} |"


def _comparison(row: Published, measured: float) -> Iterator[str]:
    """A measured value as a part of the published one, and whether it misses the agreement that is asked for."""
    if row.value:
        yield f"{measured / row.value:.3f}"
    if not row.agrees(measured):
        yield OUTSIDE


def first_look(row: Published) -> str:
    """The first value of a row as the page shows it: a number, or why there is none; nothing of a quoted value."""
    if row.first is None or isinstance(row.first, str):
        return row.first or ""
    return number(row.first) + (" (recovered)" if row.recovered else "")


def measurement(row: Published, runs: Sequence[tuple[Job, Results]]) -> tuple[Job, float] | None:
    """The first run that measured a value, and what it measured; None for a quoted value, or when none did."""
    if row.kind is Kind.QUOTED:
        return None
    fits = (
        (job, results.metrics[row.metric])
        for job, results in runs
        if results.study == row.study and row.profile in (results.profile, ANY) and row.metric in results.metrics
    )
    return next(fits, None)


def typed(job: Job) -> str:
    """A run as what a user types."""
    request, info = job.request, job.info
    words = [f"make run STUDY={info.name}"]
    if request.profile_name:
        words.append(f"PROFILE={request.profile_name}")
    settings = " ".join(f"{key}={value}" for key, value in request.settings.items())
    return " ".join([*words, f'SET="{settings}"'] if settings else words)


def measured_runs() -> list[tuple[Job, Results]]:
    """The runs of the last `make figures`. Raises ResultsError when one has no results."""
    return [
        (job, _results(job)) for job in jobs(studies.names(), load_published(), False, SIMULATORS[0], OUT / "figures")
    ]


def _results(job: Job) -> Results:
    try:
        return read_results(Path(job.request.folder) / "results.json")
    except ResultsError as error:
        raise ResultsError(f"no results of {job.name}", str(error), "run make figures first") from None


def main() -> int:
    """Write the page; the exit code."""

    def write() -> int:
        write_atomically(PAGE, page(load_published(), measured_runs()))
        return 0

    return exit_code(write, "the page is as it was")


if __name__ == "__main__":
    sys.exit(main())
