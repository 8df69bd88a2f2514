"""`make explain` (`python -m tb.ask.explain STUDY --message N`): the life of one message in sentences.

The command reads the trace of the study's last run. The study runs first if there is no trace, or if the last run
differs in a given setting, profile, cluster, seed or simulator.

Exit codes are those of `make run`; 2 also for an unknown message or an unreadable trace.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from pymodels.errors import ConfigError, SanlabError
from pymodels.numerals import whole
from tb.ask.delays import Neighbours
from tb.ask.story import story
from tb.plan import studies
from tb.plan.request import Request, resolve
from tb.report.life import Life
from tb.report.lives import lives_of
from tb.report.recorded import TRACE, Recorded, read_recorded
from tb.report.terminal import exit_code, say
from tb.run.command import failures_recorded, results_folder, run_study
from tb.tools.ending import end_on_terminate
from tb.tools.paths import SIMULATORS
from tb.tools.workplace import reading

SLOWEST = "slowest"
REQUEST = "request.json"
DEFAULTS = {"sim": "verilator", "seed": "1", "cluster": "", "profile": "", "set": ""}
"""Options that identify a run, with their defaults."""


def chosen(lives: Sequence[Life], word: str) -> Life:
    """Return the message with a number, or the slowest. Raises ConfigError with the valid range."""
    if not lives:
        cause, remedy = "the trace has no call of send", "choose a study whose message layer records its messages"
        raise ConfigError("MESSAGE", 0, "no message", cause, remedy)
    there = f"give 1 to {len(lives)}, or slowest"
    if word == SLOWEST:
        return max(lives, key=lambda life: life.latency or 0)
    try:
        number = whole(word)
    except ValueError:
        raise ConfigError("MESSAGE", 0, "not a number", f"MESSAGE is {word!r}", there) from None
    if not 1 <= number <= len(lives):
        raise ConfigError("MESSAGE", 0, f"no message {number}", f"the trace has {len(lives)}", there)
    return lives[number - 1]


def explain(recorded: Recorded, word: str, console: Console) -> None:
    """Print the life of a message. Raises SanlabError for an unknown message."""
    lives = lives_of(recorded)
    life = chosen(lives.lives, word)
    for line in story(life, recorded.legend, Neighbours(lives, recorded.legend, recorded.trace)):
        say(console, line)
    say(console, f"messages in the trace, of lower layers too: {len(lives.lives):,}", "dim")
    if recorded.legend.lost:
        say(
            console,
            f"The full trace dropped {recorded.legend.lost:,} records: the account may have gaps.",
            "yellow",
        )
    say(console, f"trace: {os.path.relpath(recorded.folder / TRACE)}", "dim")


def folder_of(words: argparse.Namespace) -> Path:
    """Return the folder of the run that the command describes.

    The study runs first if its last run left no trace or differs from the command. Raises SanlabError if the run fails.
    """
    folder = results_folder(words.study, words.out)
    with failures_recorded(folder, words.study):
        info = studies.load(words.study)
    cluster = words.cluster or info.cluster or ""
    request = resolve(words.study, words.sim, words.seed, False, cluster, words.profile, words.set, SIMULATORS)
    reason = _missing(folder, request, words)
    if not reason:
        return folder
    Console(stderr=True, emoji=False).print(f"{reason}: running {words.study} first", style="dim", highlight=False)
    run_study(replace(request, folder=str(folder)), Console(file=io.StringIO(), emoji=False))
    if not (folder / TRACE).is_file():
        raise SanlabError("no trace", f"the run of {words.study} left none", f"see {folder / 'sim.log'}")
    return folder


def _missing(folder: Path, wanted: Request, words: argparse.Namespace) -> str:
    """Return the reason to run the study again: no trace, or a difference in an option that was given; empty: none."""
    if not (folder / TRACE).is_file():
        return "no trace"
    given = {
        "settings": bool(words.set),
        "profile_name": bool(words.profile),
        "cluster_file": bool(words.cluster),
        "seed": words.seed != DEFAULTS["seed"],
        "simulator": words.sim != DEFAULTS["sim"],
    }
    if not any(given.values()):
        return ""
    try:
        last = Request.load(folder / REQUEST)
    except (OSError, ValueError, TypeError):
        return "settings of the last run are unknown"
    differ = [name for name, is_given in given.items() if is_given and getattr(last, name) != getattr(wanted, name)]
    return f"the last run had another {differ[0].partition('_')[0].removesuffix('s')}" if differ else ""


def _command(words: argparse.Namespace) -> int:
    folder = folder_of(words)
    with reading(folder):
        recorded = read_recorded(folder)
    explain(recorded, words.message, Console(emoji=False))
    return 0


def main(argv: list[str] | None = None) -> int:
    """Parse the command line, explain the message, and return the exit code."""
    parser = argparse.ArgumentParser(prog="sanlab explain", description="Print the life of one message in sentences.")
    parser.add_argument("study", help="one of: " + studies.known())
    parser.add_argument("--message", default="", help="number of the message, from 1 in the order of sends, or slowest")
    for name, default in DEFAULTS.items():
        parser.add_argument(f"--{name}", default=default)
    parser.add_argument("--out", default="", help="folder of the run (default sim_build/<study>)")
    words = parser.parse_args(argv)
    return exit_code(lambda: _command(words), "nothing was explained")


if __name__ == "__main__":
    end_on_terminate()
    sys.exit(main())
