"""`make sweep` (`python -m tb.sweep.run STUDY`): a study at each point of some axes, as one table and one plot.

Known points are not repeated. Exit codes: 0 every point passed; 1 a point failed; 2 invalid input; 130 interrupted.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from pymodels.errors import ConfigError, nearest
from pymodels.numerals import is_whole
from pymodels.profiles import every_key, parse_settings
from tb.build.travel import Parcel
from tb.plan import studies
from tb.plan.described import settings_of
from tb.plan.request import RUN_OPTIONS, Request, resolve
from tb.report import tables
from tb.report.swept import AXIS_NAMES, FILE, METRICS, UNITS
from tb.report.tables import Table
from tb.report.terminal import exit_code, is_live, say, show
from tb.report.units import unit_of
from tb.sweep import farm, plot, table
from tb.sweep.axes import Axis, parse, points
from tb.sweep.cache import Cache
from tb.sweep.designs import Designs, axes_of, parse_designs
from tb.sweep.points import OWN, Point, check, spread
from tb.sweep.table import Row
from tb.sweep.work import Done, parcel, run_point
from tb.tools.ending import end_on_terminate
from tb.tools.paths import OUT, SIMULATORS

SHOWN_ROWS, SHOWN_METRICS = 60, 5


@dataclass
class Sweep:
    """State of a running sweep."""

    todo: list[Point]
    cache: Cache
    rows: dict[str, Row] = field(default_factory=dict)
    """Completed points by key."""
    known: int = 0
    """Number of points known from earlier runs."""
    again: int = 0
    """Number of points that were tried again."""
    worked_s: float = 0.0
    """Total wall time of this sweep's runs."""
    threads: int = 0
    """Number of points that can run at a time; 0 if no point had to run."""

    def recall(self) -> list[Point]:
        """Load known points and return the remaining ones without duplicates."""
        for point in self.todo:
            results = self.cache.find(point)
            if results is not None and point.key not in self.rows:
                self.rows[point.key] = Row(point, results)
        self.known = len(self.rows)
        return list({point.key: point for point in self.todo if point.key not in self.rows}.values())

    def ended(self, point: Point, done: Done, again: bool) -> None:
        """Record the results or failures of a completed point."""
        self.again += again
        self.worked_s += done.seconds
        results = None if done.failures else self.cache.keep(point, done.results)
        self.rows[point.key] = Row(point, results, done.failures)

    def efficiency(self, seconds: float) -> str:
        """Return the use of the workers as text: run time divided by elapsed time on all workers; empty if
        nothing ran.
        """
        if not self.threads:
            return ""
        return f" on {self.threads} workers, efficiency {self.worked_s / (seconds * self.threads):.2f}"

    def table_rows(self) -> list[Row]:
        """Return a row for each completed point, in the order of the axes."""
        found = ((point, self.rows.get(point.key)) for point in self.todo)
        return [Row(point, row.results, row.failures) for point, row in found if row]


@dataclass(frozen=True)
class Wanted:
    """Outputs of a sweep."""

    metrics: str = ""
    """Names of the metrics to show and draw; empty: those that vary."""
    csv: bool = False
    """True to write the table as CSV too."""


def run_sweep(
    base: Request,
    axes: Sequence[Axis],
    scheduler: str,
    workers: int,
    shown: Wanted,
    console: Console,
    designs: Designs = MappingProxyType({}),
) -> int:
    """Run a sweep and return the exit code. Raises SanlabError for invalid input."""
    info = studies.load(base.study)
    axes = (*axes_of(designs), *axes)
    places = spread(base, info, points(axes), designs)
    check(places, info)
    sweep = Sweep(places, Cache())
    left = sweep.recall()
    begun = time.monotonic()
    try:
        if left:
            with farm.client(scheduler, workers) as dask:
                sweep.threads = farm.threads(dask)
                _work(dask, sweep, left, console, parcel if scheduler else None)
    except KeyboardInterrupt:
        _leave(sweep, base, axes, shown, console, time.monotonic() - begun)
        raise
    _leave(sweep, base, axes, shown, console, time.monotonic() - begun)
    return 0 if all(row.results for row in sweep.table_rows()) else 1


def _work(
    dask: object, sweep: Sweep, left: Sequence[Point], console: Console, builds: Callable[[Point], Parcel] | None
) -> None:
    """Run the remaining points with a progress bar; `builds` returns the builds for remote workers."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("points{task.fields[failed]}"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True, disable=not is_live(console)) as bar:
        task = bar.add_task(left[0].study, total=len(left), failed="")

        def ended(point: Point, done: Done, again: bool) -> None:
            sweep.ended(point, done, again)
            failed = sum(1 for row in sweep.rows.values() if row.failures)
            bar.update(task, advance=0 if again else 1, failed=f", {failed} failed" if failed else "")

        farm.run(dask, left, ended, run_point, builds)


def _leave(sweep: Sweep, base: Request, axes: Sequence[Axis], shown: Wanted, console: Console, seconds: float) -> None:
    """Write table, plot and page of the completed points, and print a summary."""
    rows = sweep.table_rows()
    if not rows:
        return
    folder = Path(base.folder)
    told = " ".join(f"{axis.key}={','.join(axis.values)}" for axis in axes)
    cells = table.columns(rows)
    metrics = table.metrics_of(rows, cells)
    units = units_of(studies.load(base.study), base, axes, metrics)
    about = {
        "study": base.study,
        "axes": told,
        "points": f"{len(rows)} of {len(sweep.todo)}",
        AXIS_NAMES: json.dumps([axis.key for axis in axes]),
        METRICS: json.dumps(metrics),
        UNITS: json.dumps(units),
    }
    table.write(rows, folder / FILE, about)
    if shown.csv:
        table.write_csv(cells, folder / "points.csv")
    seen = table.shown(cells, _chosen(shown.metrics, metrics), [axis.key for axis in axes])
    units |= {name: unit_of(name) for name in seen}
    cells = {**{axis.key: cells[axis.key] for axis in axes}, **seen}
    title = f"{base.study}, {base.simulator}, seed {base.seed}"
    drawn = plot.draw(cells, axes, list(seen), title, folder / "points.svg", units)
    _show_points(rows, axes, cells, list(seen), console)
    for row in rows:
        if row.failures:
            say(console, f"failed: {row.point.name}: {'; '.join(row.failures)}", "bold red")
    failed = sum(1 for row in rows if row.failures)
    say(console, "")
    counted = f"{len(rows)} of {len(sweep.todo)} points, {sweep.known} known, {failed} failed"
    say(console, f"{counted}, {sweep.again} tried again, {seconds:.1f} s{sweep.efficiency(seconds)}", "dim")
    for what, name in (("table", FILE), *([("table", "points.csv")] if shown.csv else ())):
        say(console, f"{what}: {os.path.relpath(folder / name)}")
    if drawn:
        say(console, f"plot: {os.path.relpath(folder / 'points.svg')}")


def units_of(info: studies.StudyInfo, base: Request, axes: Sequence[Axis], metrics: Sequence[str]) -> dict[str, str]:
    """Return the units of axes and metrics by name, if any."""
    settings = {one.name: one.unit for one in settings_of(info.chosen(base.settings), base.profile_name)}
    found = {**{axis.key: settings.get(axis.key, "") for axis in axes}, **{name: unit_of(name) for name in metrics}}
    return {name: unit for name, unit in found.items() if unit}


def _chosen(words: str, metrics: Sequence[str]) -> list[str]:
    """Return the metrics to show. Raises ConfigError for a metric that was not measured."""
    for word in words.split():
        if word not in metrics:
            raise ConfigError("PLOT", 0, "unknown metric", f"{word!r} was not measured", nearest(word, metrics))
    return words.split() or list(metrics)


def _show_points(
    rows: Sequence[Row],
    axes: Sequence[Axis],
    cells: dict[str, list[table.Cell]],
    metrics: Sequence[str],
    console: Console,
) -> None:
    names = table.varied(cells, metrics)[:SHOWN_METRICS]
    lines = []
    for at, row in enumerate(rows[:SHOWN_ROWS]):
        values = (cells[name][at] for name in names)
        numbers = (tables.number(value) if isinstance(value, (int, float)) else "-" for value in values)
        lines.append((*(row.point.axes[axis.key] for axis in axes), *numbers))
    say(console, "")
    show(console, Table((*(axis.key for axis in axes), *names), tuple(lines), words=0))
    if len(rows) > SHOWN_ROWS:
        say(console, f"... and {len(rows) - SHOWN_ROWS} more points in the table", "dim")


def main(argv: list[str] | None = None) -> int:
    """Parse the command line, run the sweep, and return the exit code."""
    parser = argparse.ArgumentParser(prog="sanlab sweep", description="Run a study at each point of some axes.")
    parser.add_argument("study", help="one of: " + studies.known())
    parser.add_argument("--axes", default="", help='such as "hosts=2,4,8 size=0:65536:x2"')
    parser.add_argument(
        "--scheduler", default="", help="address of a Dask scheduler (default: a cluster of this process)"
    )
    parser.add_argument("--workers", default="", help="points at a time on this machine (default: its processors)")
    parser.add_argument("--plot", default="", help="metrics to show and draw (default: those that vary)")
    for name, default in (("sim", "verilator"), ("seed", "1"), ("cluster", ""), ("profile", ""), ("set", "")):
        parser.add_argument(f"--{name}", default=default)
    parser.add_argument(
        "--designs", default="", help='named settings, the axis design: "base: ; wide bus: pci.width=64"'
    )
    parser.add_argument("--csv", action="store_true", help="also write the table as points.csv")
    parser.add_argument("--out", default="", help="folder for table and plot (default sim_build/sweep/<study>)")
    words = parser.parse_args(argv)

    def sweep() -> int:
        info = studies.load(words.study).chosen(parse_settings(words.set))
        designs = parse_designs(words.designs)
        axes = parse(words.axes, {*OWN, *RUN_OPTIONS, *info.options, *every_key()}, len(designs))
        cluster = words.cluster or info.cluster or ""
        base = resolve(words.study, words.sim, words.seed, False, cluster, words.profile, words.set, SIMULATORS)
        folder = Path(words.out).resolve() if words.out else OUT / "sweep" / words.study
        base = Request(**{**base.__dict__, "folder": str(folder)})
        wanted = Wanted(words.plot, words.csv)
        return run_sweep(base, axes, words.scheduler, workers(words.workers), wanted, Console(emoji=False), designs)

    return exit_code(sweep, "completed points are kept; repeat the command to continue")


def workers(text: str) -> int:
    """Return the number of points at a time. Raises ConfigError for an invalid number."""
    if not text:
        return os.cpu_count() or 1
    if not is_whole(text) or not 1 <= int(text) <= 1024:
        raise ConfigError("WORKERS", 0, "invalid number of workers", f"WORKERS is {text!r}", "give 1 to 1024")
    return int(text)


if __name__ == "__main__":
    end_on_terminate()
    sys.exit(main())
