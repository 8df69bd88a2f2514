"""Work of a sweep's worker: one point, from its text to the text of its results. Workers share only the sources."""

from __future__ import annotations

import io
import shutil
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from pymodels.errors import SanlabError
from tb.build.travel import Parcel, packed
from tb.plan import studies
from tb.plan.request import plan
from tb.run.command import built, execute
from tb.sweep.points import Point, sources_digest
from tb.tools.paths import OUT

WORK = OUT / "sweep" / "work"
"""Folder in which points run."""


@dataclass(frozen=True)
class Done:
    """Outcome of a point: the text of `results.json`, or the failures."""

    results: str = ""
    failures: tuple[str, ...] = ()
    seconds: float = 0.0
    """Wall time on the worker, including start-up, without the build."""


def run_point(point: Point) -> Done:
    """Run a point in a temporary folder. No failure of a run raises an exception."""
    if not point.sources.startswith(sources_digest()):
        return Done(failures=("the sources of worker and sweep differ: use the same version",))
    try:
        WORK.mkdir(parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(dir=WORK, prefix=f"{point.key[:12]}-"))
    except OSError as error:
        return Done(failures=(f"{WORK}: {error.strerror}",))
    try:
        return _run(point, folder)
    except SanlabError as error:
        return Done(failures=(str(error),))
    except OSError as error:
        return Done(failures=(f"{error.filename}: {error.strerror}",))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _run(point: Point, folder: Path) -> Done:
    info = studies.load(point.study)
    request = point.request(folder)
    understood, console = plan(request, info), Console(file=io.StringIO(), emoji=False)
    begun = time.monotonic()
    made = built(request, info, understood, console)
    if not made.cached:
        begun = time.monotonic()
    outcome = execute(request, info, understood, console, made)
    seconds = time.monotonic() - begun
    results, failed = folder / "results.json", folder / "failures.txt"
    failures = [line for line in failed.read_text(encoding="utf-8").splitlines() if line] if failed.exists() else []
    if failures or not outcome.passed or not results.exists():
        return Done(failures=tuple(failures or outcome.failures or ["the run left no results"]), seconds=seconds)
    return Done(results=results.read_text(encoding="utf-8"), seconds=seconds)


def parcel(point: Point) -> Parcel:
    """Return the build of a point for a remote worker, made here if necessary. Raises ToolError if it fails."""
    with tempfile.TemporaryDirectory() as folder:
        info, request = studies.load(point.study), point.request(Path(folder))
        return packed(built(request, info, plan(request, info), Console(file=io.StringIO(), emoji=False)))
