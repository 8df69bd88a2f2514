"""Completed run: metrics, series and trace for scripts and notebooks."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .ask import events
from .errors import SanlabError
from .markup import page

RESULTS, TRACE, LEGEND, REPORT = "results.json", "trace.npy", "legend.json", "report.html"


@dataclass(frozen=True)
class Series:
    """Curve: `x` and `y` of equal length, with their units."""

    x: NDArray[np.float64]
    y: NDArray[np.float64]
    x_unit: str
    y_unit: str


class Run:
    """Run of a study. Large data are read on first access."""

    def __init__(self, folder: Path, results: Mapping[str, Any], text: str = "") -> None:
        self.folder = folder
        self.results = results
        """Content of `results.json`."""
        self.text = text
        """Output of the command line; empty for a loaded run."""
        self.study: str = results["study"]
        self.simulator: str = results["simulator"]
        self.seed: int = results["seed"]
        self.profile: str = results["profile"]
        self.metrics: dict[str, float] = dict(results["metrics"])
        self.published: list[dict[str, Any]] = list(results["published"])
        """Published values with the measured ones."""

    @cached_property
    def series(self) -> dict[str, Series]:
        """Curves by name."""
        return {
            name: Series(np.array(one["x"], float), np.array(one["y"], float), one["x_unit"], one["y_unit"])
            for name, one in self.results["series"].items()
        }

    @cached_property
    def trace(self) -> NDArray[np.void]:
        """Trace records in time order: `time` in ps, `unit`, `event`, `packet`, `argument`, `argument2`,
        and `message`: number of the message in records of software at its sender, 0 in other records.

        Raises SanlabError if the run wrote no trace (`run.trace=0`).
        """
        path = self.folder / TRACE
        if not path.exists():
            raise SanlabError(f"no trace: {path} does not exist; run the study again, without run.trace=0")
        records: NDArray[np.void] = np.load(path, mmap_mode="r", allow_pickle=False)
        late = len(records) and np.any(np.diff(records["time"]) < 0)
        return records[np.argsort(records["time"], kind="stable")] if late else records

    @cached_property
    def legend(self) -> dict[str, Any]:
        """Meanings of the numbers in the trace: hosts, switches, links, instruction paths, clocks."""
        legend: dict[str, Any] = json.loads((self.folder / LEGEND).read_text(encoding="utf-8"))
        return legend

    @property
    def report(self) -> Path:
        """Path of the run's page, one HTML file."""
        return self.folder / REPORT

    def frame(self, series: str | None = None) -> Any:
        """Return a pandas frame of the metrics, one a row, or of one series. Needs pandas.

        Raises SanlabError for an unknown series.
        """
        if series is None:
            return _pandas().DataFrame({"metric": list(self.metrics), "value": list(self.metrics.values())})
        if series not in self.series:
            known = ", ".join(self.series) or "none"
            raise SanlabError(f"unknown series {series!r}: not a curve of {self.study}; its curves: {known}")
        one = self.series[series]
        return _pandas().DataFrame({f"x ({one.x_unit})": one.x, f"{series} ({one.y_unit})": one.y})

    def trace_frame(self) -> Any:
        """Return a pandas frame of the trace with event names. Needs pandas."""
        names = {number: name for name, number in events().items()}
        columns = {name: self.trace[name] for name in self.trace.dtype.names or () if name != "pad"}
        return _pandas().DataFrame({**columns, "event": [names.get(int(one), one) for one in self.trace["event"]]})

    def __str__(self) -> str:
        return self.text or repr(self)

    def __repr__(self) -> str:
        told = f"{self.simulator}, seed {self.seed}, {len(self.metrics)} metrics"
        return f"<sanlab run of {self.study}: {told}, {self.folder}>"

    def _repr_html_(self) -> str:
        """Return the page for a notebook."""
        return page(repr(self).strip("<>"), self.metrics, self.published)


def load(folder: str | PathLike[str], text: str = "") -> Run:
    """Return an earlier run from its folder. Raises SanlabError if the folder has no valid results."""
    path = Path(folder).absolute() / RESULTS
    try:
        return Run(path.parent, json.loads(path.read_text(encoding="utf-8")), text)
    except OSError as error:
        raise SanlabError(f"no results: {path}: {error.strerror}; run the study first") from None
    except (ValueError, KeyError) as error:
        raise SanlabError(f"results unreadable: {path}: {error}; run the study again") from None


def _pandas() -> Any:
    try:
        return import_module("pandas")
    except ImportError:
        raise SanlabError(
            "no frame: pandas is not installed; install it, or use the arrays of metrics, series and trace"
        ) from None
