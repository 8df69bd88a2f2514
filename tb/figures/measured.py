"""What the runs of the last `make figures` measured of a published value, and what a user types to see it again."""

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
    """The first run that measured a value, and what it measured; None when none did, or for a value only quoted.

    A row with `settings` is measured by a run that has them. One with `over` is a ratio: the metric over that other
    metric of the study, by the first run that has it.
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
    """A run as what a user types."""
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
