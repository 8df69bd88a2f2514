"""Runs at positions of a family's space, on a Dask cluster. Known points and known failures are not repeated."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from pymodels.errors import SanlabError
from pymodels.results import ResultsError, write_atomically
from tb.calibrate.family import Family, Run
from tb.calibrate.space import Array, settings
from tb.report.terminal import is_live
from tb.sweep import farm
from tb.sweep.cache import Cache
from tb.sweep.points import Point, check, spread
from tb.sweep.work import Done, run_point

FAILED = "failures.json"
"""File of the failed runs by the key of their point."""
OUTSIDE = ("killed by", "connection to the scheduler lost", "sanlab is missing on the worker", "the sources of worker")
"""Parts of failures that the point has not caused. They are not recorded, so a repeated command runs the point."""


@dataclass
class Evaluation:
    """Scores of a family at positions, and the failed runs.

    Attributes:
        failures: Reasons by the key of a point.
        runs: Number of runs of this process.
    """

    family: Family
    dask: Any
    folder: Path
    console: Console
    cache: Cache = field(default_factory=Cache)
    failures: dict[str, str] = field(default_factory=dict)
    runs: int = 0

    def __post_init__(self) -> None:
        path = self.folder / FAILED
        if path.is_file():
            try:
                self.failures = dict(json.loads(path.read_text(encoding="utf-8")))
            except (OSError, ValueError) as error:
                raise ResultsError("invalid record of failures", f"{path}: {error}", "delete the file") from None

    def scores(self, shares: Array, label: str) -> tuple[dict[str, Array], list[str]]:
        """Return the scores by row, and the reason of a failure by position; empty where all runs passed.

        The score of a failed run is NaN.

        Args:
            shares: Positions, one a row.
            label: Text of the progress bar.

        Raises:
            ResultsError: The record of failures cannot be written.
        """
        points = [[self._point(run, place) for run in self.family.runs] for place in shares]
        metrics: dict[str, dict[str, float]] = {}
        todo: dict[str, Point] = {}
        for place in points:
            for run, point in zip(self.family.runs, place, strict=True):
                results = self.cache.find(point)
                if results is not None:
                    metrics[point.key] = dict(results.metrics)
                elif point.key not in self.failures and self._valid(run, point):
                    todo[point.key] = point
        self._run(list(todo.values()), metrics, label)
        told = [self.family.scores([metrics.get(point.key, {}) for point in place]) for place in points]
        reasons = [
            "; ".join(sorted({self.failures[p.key] for p in place if p.key in self.failures})) for place in points
        ]
        return {name: np.array([one[name] for one in told]) for name in self.family.rows}, reasons

    def _point(self, run: Run, shares: Array) -> Point:
        place = settings(self.family.space, run.profile.name, shares, run.info.options)
        free = {key: value for key, value in place.items() if key not in run.base.settings}
        return spread(run.base, run.info, [free])[0]

    def _valid(self, run: Run, point: Point) -> bool:
        """Return True if a point can be planned; record the reason otherwise."""
        try:
            check([point], run.info)
        except SanlabError as error:
            self._fail(point, str(error))
            return False
        return True

    def _fail(self, point: Point, reason: str) -> None:
        self.failures[point.key] = reason
        kept = {key: one for key, one in self.failures.items() if not any(words in one for words in OUTSIDE)}
        write_atomically(self.folder / FAILED, json.dumps(kept, indent=1, sort_keys=True) + "\n")

    def _run(self, todo: Sequence[Point], metrics: dict[str, dict[str, float]], label: str) -> None:
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        with Progress(
            *columns, TimeRemainingColumn(), console=self.console, transient=True, disable=not is_live(self.console)
        ) as bar:
            task = bar.add_task(label, total=len(todo))

            def ended(point: Point, done: Done, again: bool) -> None:
                if again:
                    return
                self.runs += 1
                bar.update(task, advance=1)
                if done.failures:
                    self._fail(point, "; ".join(done.failures))
                else:
                    metrics[point.key] = dict(self.cache.keep(point, done.results).metrics)

            farm.run(self.dask, todo, ended, run_point)
