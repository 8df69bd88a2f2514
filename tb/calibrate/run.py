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
from tb.report.terminal import exit_code, say, show
from tb.sweep import farm
from tb.sweep.run import workers
from tb.tools.ending import end_on_terminate
from tb.tools.paths import OUT

if TYPE_CHECKING:
    from tb.calibrate.family import Family
    from tb.calibrate.outcome import Outcome
    from tb.calibrate.waves import Evaluate

FOLDER = OUT / "calibrate"
A_DIMENSION = 10
"""Points of a wave a dimension by default."""
MOST = 100_000


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
    from tb.calibrate.holdout import held_out, unmet
    from tb.calibrate.outcome import Outcome
    from tb.calibrate.rank import ranks
    from tb.calibrate.space import default, rounded
    from tb.calibrate.waves import run_waves

    rows, size = family.observed, len(family.space)
    rounding = partial(rounded, family.space)
    matched = run_waves(rows, default(family.space), evaluate, points, waves, method, seed, rounding)
    match = matched.match(rows)
    predictions = held_out(rows, matched.emulators, matched.failures, size, seed)
    names = [one.name for one in family.space]
    strongest = {name: ranks(emulator, names, seed) for name, emulator in matched.emulators.items()}
    told = unmet(match.rows, matched.scores, match, size, seed)
    return Outcome(family, matched, predictions, match.sample(size, seed), told, strongest, command)


def require_tools() -> None:
    """Raise SanlabError if a package that only calibrations need is missing."""
    missing = [name for name in ("scipy", "sklearn", "SALib") if importlib.util.find_spec(name) is None]
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
    parser.add_argument("family", help="family of published values, as in pymodels/published.toml")
    for name, usual in (("sim", "verilator"), ("seed", "1"), ("scheduler", ""), ("workers", ""), ("out", "")):
        parser.add_argument(f"--{name}", default=usual)
    parser.add_argument("--samples", default="", help="points of a wave (default: 10 for each uncertain value)")
    parser.add_argument("--waves", default="", help="number of waves (default 3)")
    parser.add_argument("--design", default="latin", help="design of the first wave: latin or sobol")
    words = parser.parse_args(argv)
    console = Console(emoji=False)

    def run() -> int:
        require_tools()
        from tb.calibrate.evaluate import Evaluation
        from tb.calibrate.family import load_family

        waves = count("WAVES", words.waves, 3, 1)
        seed = count("SEED", words.seed, 1, 0)
        family = load_family(words.family, words.sim, words.seed)
        points = count("SAMPLES", words.samples, A_DIMENSION * len(family.space), 8)
        folder = Path(words.out).resolve() if words.out else FOLDER / family.name
        told = (
            f"sanlab calibrate {family.name} --samples={points} --waves={waves} --design={words.design} --seed={seed}"
            f" --sim={words.sim}"
        )
        say(
            console, f"{len(family.space)} uncertain values, {len(family.observed)} rows, {points} points a wave", "dim"
        )
        with farm.client(words.scheduler, workers(words.workers)) as dask:
            runner = Evaluation(family, dask, folder, console)
            outcome = calibrate(family, runner.scores, points, waves, words.design, seed, told)
        made = outcome.leave(folder)
        show(console, outcome.summary())
        show(console, outcome.rows())
        say(console, f"{runner.runs} points run", "dim")
        say(console, f"calibration: {os.path.relpath(made)}")
        return 0

    return exit_code(run, "completed points are kept; repeat the command to continue")


if __name__ == "__main__":
    end_on_terminate()
    sys.exit(main())
