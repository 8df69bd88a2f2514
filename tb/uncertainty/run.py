"""`make uncertainty` (`python -m tb.uncertainty.run STUDY`): dependence of a study's figures on uncertain
profile values.

Uncertain values are assumed or calibrated. Points run on a Dask cluster, and known points are not repeated, as in a
sweep. Exit codes: 0 every point passed; 1 a point failed; 2 invalid input; 130 interrupted.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path

from rich.console import Console

from pymodels.errors import ConfigError
from pymodels.numerals import is_whole
from pymodels.profiles import Profile, parse_settings
from pymodels.published import Published, load_published
from pymodels.results import Kind, write_atomically
from tb.plan import studies
from tb.plan.request import Request, plan, resolve
from tb.plan.studies import StudyInfo
from tb.report.tables import Table, number
from tb.report.terminal import exit_code, say, show
from tb.sweep import farm
from tb.sweep.cache import Cache
from tb.sweep.points import Point, check, spread
from tb.sweep.run import workers
from tb.sweep.work import Done, run_point
from tb.tools.ending import end_on_terminate
from tb.tools.paths import OUT, SIMULATORS
from tb.uncertainty.design import Place, Unsure, alone, hypercube, together, unsure
from tb.uncertainty.page import page, summary
from tb.uncertainty.spread import Figure, Metrics, figure, moved

FOLDER = OUT / "uncertainty"
MOST = 10_000


@dataclass
class Points:
    """Runner of points with their results and failures."""

    base: Request
    info: StudyInfo
    dask: object
    cache: Cache = field(default_factory=Cache)
    runs: int = 0
    failures: list[str] = field(default_factory=list)

    def metrics(self, places: Sequence[Place]) -> list[Metrics]:
        """Return the metrics at these points in order; empty for a failed point."""
        points = spread(self.base, self.info, places)
        check(points, self.info)
        found: dict[str, Metrics] = {}
        for point in points:
            results = self.cache.find(point)
            if results is not None:
                found[point.key] = results.metrics
        left = {point.key: point for point in points if point.key not in found}

        def ended(point: Point, done: Done, again: bool) -> None:
            if not done.failures:
                found[point.key] = self.cache.keep(point, done.results).metrics
            elif not again:
                self.failures.append(f"{point.name}: {'; '.join(done.failures)}")

        self.runs += len(left)
        farm.run(self.dask, list(left.values()), ended, run_point)
        return [found.get(point.key, {}) for point in points]


def rows_of(study: str, profile: Profile, settings: Mapping[str, str]) -> list[Published]:
    """Return the published values that a run of a study can reproduce. Raises ConfigError if the study has no such
    value.
    """
    rows = [
        row
        for row in load_published()
        if row.study == study and row.profile == profile.name and row.kind is not Kind.QUOTED and not row.over
        and parse_settings(row.settings).items() <= settings.items()
    ]  # fmt: skip
    if not rows:
        known = sorted(
            {f"{row.study} PROFILE={row.profile}" for row in load_published() if row.kind is not Kind.QUOTED}
        )
        told = "; ".join(word for word in known if word.startswith(f"{study} ")) or "no published value of this study"
        cause = f"no published value applies to {study} on {profile.name}"
        raise ConfigError("STUDY", 0, "no published value", cause, f"choose one of: {told}")
    return rows


def measure(
    points: Points, rows: Sequence[Published], values: Sequence[Unsure], draws: int, console: Console
) -> tuple[list[Figure], list[Unsure]]:
    """Return the figures with their intervals, and the values that were drawn.

    Raises ConfigError if the study's own run fails.
    """
    (base,) = points.metrics([{}])
    rows = [row for row in rows if row.metric in base]
    if not rows:
        raise ConfigError(
            "SET",
            0,
            "nothing measured",
            "; ".join(points.failures) or "no such metric",
            "change SET so that the study measures its published values",
        )
    names = [row.metric for row in rows]
    tables = together(values)
    ends = points.metrics([place for places in tables.values() for place in places])
    felt = {table for at, table in enumerate(tables) if moved(base, ends[2 * at : 2 * at + 2], names)}
    say(console, f"{len(tables)} tables of values, {', '.join(sorted(felt)) or 'none'} with an effect", "dim")
    near = [one for one in values if one.key.name.split(".")[0] in felt]
    places = alone(near)
    found = iter(points.metrics([place for both in places.values() for place in both]))
    singles = {key: (next(found), next(found)) for key in places}
    drawn = [one for one in near if moved(base, singles[one.key.name], names)]
    say(console, f"{len(values)} uncertain values, {len(drawn)} with an effect", "dim")
    together_drawn = points.metrics(hypercube(drawn, draws, points.base.seed)) if drawn else []
    return [figure(row, base, singles, together_drawn) for row in rows], drawn


def leave(
    folder: Path, base: Request, figures: Sequence[Figure], drawn: Sequence[Unsure], draws: int, failed: Sequence[str]
) -> Path:
    """Write `uncertainty.json` and the page, and return the page's path. `failed` has the failed points with
    their reasons.
    """
    plain = {
        "command": command(base, draws),
        "date": datetime.now(timezone.utc).date().isoformat(),
        "simulator": base.simulator,
        "values": [one.key.name for one in drawn],
        "failed": list(failed),
        "rows": [one.as_json() for one in figures],
    }
    write_atomically(folder / "uncertainty.json", json.dumps(plain, indent=1, allow_nan=False) + "\n")
    rows = (
        (
            one.key.name,
            number(float(one.range.low)),
            number(float(one.value)),
            number(float(one.range.high)),
            one.range.why,
        )
        for one in drawn
    )
    ranges = Table(("value", "minimum", "profile", "maximum", "reason"), tuple(rows))
    note = f"{plain['command']}; {plain['date']}, {base.simulator}"
    write_atomically(folder / "index.html", page(f"Uncertainty of {base.study}", note, figures, ranges, failed))
    return folder / "index.html"


def command(base: Request, draws: int) -> str:
    """Return the command that repeats the computation."""
    settings = " ".join(f"{key}={value}" for key, value in base.settings.items())
    given = {"PROFILE": base.profile_name, "SET": settings, "SEED": "" if base.seed == 1 else str(base.seed)}
    words = [f"{name}={shlex.quote(text)}" for name, text in given.items() if text]
    return " ".join(["make uncertainty", f"STUDY={base.study}", *words, f"SAMPLES={draws}"])


def main(argv: list[str] | None = None) -> int:
    """Parse the command line, compute the uncertainty, and return the exit code."""
    parser = argparse.ArgumentParser(
        prog="sanlab uncertainty", description="Compute how much figures depend on uncertain values."
    )
    parser.add_argument("study", help="study with published values")
    for name, default in (("sim", "verilator"), ("seed", "1"), ("cluster", ""), ("profile", ""), ("set", "")):
        parser.add_argument(f"--{name}", default=default)
    parser.add_argument("--samples", default="", help="number of random draws (default 24)")
    parser.add_argument(
        "--scheduler", default="", help="address of a Dask scheduler (default: a cluster of this process)"
    )
    parser.add_argument("--workers", default="", help="points at a time on this machine (default: its processors)")
    parser.add_argument("--out", default="", help="folder (default sim_build/uncertainty/<study>-<profile>)")
    words = parser.parse_args(argv)
    console = Console(emoji=False)

    def uncertainty() -> int:
        draws = samples(words.samples)
        info = studies.load(words.study).chosen(parse_settings(words.set))
        cluster = words.cluster or info.cluster or ""
        base = resolve(words.study, words.sim, words.seed, False, cluster, words.profile, words.set, SIMULATORS)
        profile = plan(base, info).profile
        rows = rows_of(base.study, profile, base.settings)
        values = unsure(profile, base.settings)
        folder = Path(words.out).resolve() if words.out else FOLDER / f"{base.study}-{profile.name}"
        with farm.client(words.scheduler, workers(words.workers)) as dask:
            points = Points(base, info, dask)
            figures, drawn = measure(points, rows, values, draws, console)
        made = leave(folder, base, figures, drawn, draws, points.failures)
        show(console, summary(figures))
        for line in points.failures:
            say(console, f"failed: {line}", "bold red")
        say(console, f"{points.runs} points run", "dim")
        say(console, f"uncertainty: {os.path.relpath(made)}")
        return 1 if points.failures else 0

    return exit_code(uncertainty, "completed points are kept; repeat the command to continue")


def samples(text: str) -> int:
    """Return the number of draws. Raises ConfigError for an invalid number."""
    if not text:
        return 24
    if not is_whole(text) or not 2 <= int(text) <= MOST:
        raise ConfigError("SAMPLES", 0, "invalid number of draws", f"SAMPLES is {text!r}", f"give 2 to {MOST}")
    return int(text)


if __name__ == "__main__":
    end_on_terminate()
    sys.exit(main())
