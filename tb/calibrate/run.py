"""`make calibrate` (`python -m tb.calibrate.run FAMILY`): condition the uncertain values of a family on its rows.

Points run on a Dask cluster, and known points and failures are not repeated, as in a sweep. Exit codes: 0 done, failed
points included; 2 invalid input; 130 interrupted.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from pymodels.errors import ConfigError, SanlabError
from pymodels.numerals import is_whole
from tb.plan.provenance import commit
from tb.report.terminal import exit_code, say, show
from tb.sweep import farm
from tb.sweep.run import workers
from tb.tools.ending import end_on_terminate
from tb.tools.paths import OUT, ROOT

if TYPE_CHECKING:
    from tb.calibrate.family import Family
    from tb.calibrate.outcome import Outcome
    from tb.calibrate.table import Origin
    from tb.calibrate.waves import Evaluate, Matched

FOLDER = OUT / "calibrate"
A_DIMENSION = 10
"""Points of a wave a dimension by default."""
MOST = 100_000
ALL = "all"
"""Name of all families with conditioning rows."""


def calibrate(
    family: Family, evaluate: Evaluate, points: int, waves: int, method: str, seed: int, command: str
) -> Outcome:
    """Return the outcome of history matching and of the held-out predictions.

    Args:
        family: Family with its space.
        evaluate: Function that runs points.
        points: Points of a wave.
        waves: Number of waves.
        method: Design of the first wave, `latin` or `sobol`.
        seed: Seed of designs and emulators.
        command: Command that repeats the calibration.

    Raises:
        ConfigError: Too few runs passed.
    """
    from tb.calibrate.space import default, rounded
    from tb.calibrate.table import Origin
    from tb.calibrate.waves import run_waves

    rounding = partial(rounded, family.space)
    matched = run_waves(family.observed, default(family.space), evaluate, points, waves, method, seed, rounding)
    return conclude(family, matched, seed, Origin(command, commit(ROOT)))


def conclude(family: Family, matched: Matched, seed: int, origin: Origin) -> Outcome:
    """Return the outcome of runs from which emulators have learned.

    Args:
        family: Family with its space.
        matched: Runs and emulators.
        seed: Seed of draws.
        origin: Command and commit of the runs.
    """
    from tb.calibrate.holdout import held_out, unmet
    from tb.calibrate.outcome import Outcome
    from tb.calibrate.rank import ranks

    rows, size = family.observed, len(family.space)
    match = matched.match(rows)
    predictions = held_out(rows, matched.emulators, matched.failures, size, seed)
    names = [one.name for one in family.space]
    strongest = {name: ranks(emulator, names, seed) for name, emulator in matched.emulators.items()}
    told = unmet(match.rows, matched.scores, match, size, seed)
    return Outcome(family, matched, predictions, match.sample(size, seed), told, strongest, origin)


def again(family: Family, path: Path, seed: int) -> Outcome:
    """Return the outcome of the runs in a table, without running anything.

    Args:
        family: Family with its space.
        path: Table of points of an earlier calibration.
        seed: Seed of the emulators.

    Raises:
        ResultsError: The table cannot be read, or has other values, ranges or rows than the family.
        ConfigError: Too few of its runs passed.
    """
    from tb.calibrate.space import rounded
    from tb.calibrate.table import read_table
    from tb.calibrate.waves import learn_again

    known, origin = read_table(family, path)
    return conclude(family, learn_again(family.observed, known, seed, partial(rounded, family.space)), seed, origin)


def require_tools() -> None:
    """Raise SanlabError if a package that only calibrations need is missing."""
    missing = [
        name for name in ("scipy", "sklearn", "SALib", "threadpoolctl") if importlib.util.find_spec(name) is None
    ]
    if missing:
        cause = f"{', '.join(missing)} not installed"
        raise SanlabError("calibrate", cause, "run `make setup`, or install requirements.txt")


def count(name: str, text: str, usual: int, least: int) -> int:
    """Return a number of the command line. Raises ConfigError for an invalid number."""
    if not text:
        return usual
    if not is_whole(text) or not least <= int(text) <= MOST:
        raise ConfigError(name, 0, "invalid number", f"{name} is {text!r}", f"give {least} to {MOST}")
    return int(text)


def main(argv: Sequence[str] | None = None) -> int:
    """Parse the command line, calibrate, and return the exit code."""
    parser = argparse.ArgumentParser(
        prog="sanlab calibrate", description="Condition the uncertain values of a family on its published values."
    )
    parser.add_argument("family", help="family of published values, as in pymodels/published.toml, or all")
    for name, usual in (("sim", "verilator"), ("seed", "1"), ("scheduler", ""), ("workers", ""), ("out", "")):
        parser.add_argument(f"--{name}", default=usual)
    parser.add_argument("--samples", default="", help="points of a wave (default: 10 for each uncertain value)")
    parser.add_argument("--waves", default="", help="number of waves (default 3)")
    parser.add_argument("--design", default="latin", help="design of the first wave: latin or sobol")
    parser.add_argument("--points", default="", help="table of points of an earlier calibration: nothing runs")
    words = parser.parse_args(argv)
    console = Console(emoji=False)

    def run() -> int:
        require_tools()
        from threadpoolctl import threadpool_limits

        from tb.calibrate.family import load_family, trained

        names = trained() if words.family == ALL else [words.family]
        if words.points and len(names) > 1:
            raise ConfigError("FAMILY", 0, "a table belongs to one family", f"FAMILY is {ALL}", "name the family")
        seed, out = count("SEED", words.seed, 1, 0), Path(words.out).resolve() if words.out else None
        for name in names:
            family = load_family(name, words.sim, words.seed)
            folder = FOLDER / name if out is None else out if len(names) == 1 else out / name
            with threadpool_limits(1):  # two threads wait for each other where runs use the processors
                if words.points:
                    outcome = again(family, Path(words.points), seed)
                else:
                    outcome = _run(family, words, seed, folder, console)
            made = outcome.leave(folder)
            show(console, outcome.summary())
            show(console, outcome.rows())
            say(console, f"calibration: {os.path.relpath(made)}")
        return 0

    return exit_code(run, "completed points are kept; repeat the command to continue")


def _run(family: Family, words: argparse.Namespace, seed: int, folder: Path, console: Console) -> Outcome:
    """Run the waves of a family, and return their outcome."""
    from tb.calibrate.evaluate import Evaluation

    points = count("SAMPLES", words.samples, A_DIMENSION * len(family.space), 8)
    waves = count("WAVES", words.waves, 3, 1)
    told = (
        f"sanlab calibrate {family.name} --samples={points} --waves={waves} --design={words.design} --seed={seed}"
        f" --sim={words.sim}"
    )
    sizes = f"{len(family.space)} uncertain values, {len(family.observed)} rows, {points} points a wave"
    say(console, f"{family.name}: {sizes}", "dim")
    with farm.client(words.scheduler, workers(words.workers)) as dask:
        runner = Evaluation(family, dask, folder, console)
        outcome = calibrate(family, runner.scores, points, waves, words.design, seed, told)
    say(console, f"{runner.runs} points run", "dim")
    return outcome


if __name__ == "__main__":
    end_on_terminate()
    sys.exit(main())
