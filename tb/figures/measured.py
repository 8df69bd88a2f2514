"""Values measured by the last `make figures` for published values, and the commands that repeat them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from pymodels.profiles import parse_settings
from pymodels.published import ANY, Published, load_published
from pymodels.results import Results, ResultsError, read_results
from tb.figures.jobs import Job, jobs
from tb.plan import studies
from tb.tools.paths import OUT, SIMULATORS

FIGURES = OUT / "figures"
Runs = Sequence[tuple[Job, Results]]


def measurement(row: Published, runs: Runs) -> tuple[Job, float] | None:
    """Return the first run that measured a value, with the result; None without one or for a quoted value.

    A row with `settings` needs a run with these settings. A row with `over` is the ratio of its metric to that other
    metric of the study.
    """
    if not row.measurable:
        return None
    found = _first(row, row.metric, row.profile, runs)
    if found is None or not row.over:
        return found
    other = _first(row, row.over, ANY, runs, settings="")
    return (found[0], found[1] / other[1]) if other is not None and other[1] else None


def _first(
    row: Published, metric: str, profile: str, runs: Runs, settings: str | None = None
) -> tuple[Job, float] | None:
    wanted = parse_settings(row.settings if settings is None else settings).items()
    fits = (
        (job, results.metrics[metric])
        for job, results in runs
        if results.study == row.study
        and profile in (results.profile, ANY)
        and metric in results.metrics
        and wanted <= job.request.settings.items()
    )
    return next(fits, None)


def typed(job: Job) -> str:
    """Return the command line of a run."""
    request, info = job.request, job.info
    words = [f"make run STUDY={info.name}"]
    if request.profile_name:
        words.append(f"PROFILE={request.profile_name}")
    settings = " ".join(f"{key}={value}" for key, value in request.settings.items())
    return " ".join([*words, f'SET="{settings}"'] if settings else words)


def measured_runs() -> list[tuple[Job, Results]]:
    """Return the runs of `make figures` with the present sources and settings, and their results."""
    found = []
    for job in filter(lambda job: job.done, jobs(studies.names(), load_published(), False, SIMULATORS[0], FIGURES, [])):
        with suppress(ResultsError):
            found.append((job, read_results(Path(job.request.folder) / "results.json")))
    return found
