"""`make measure` (`python -m tb.ask.measure STUDY --from=... --to=...`): intervals between conditions in waves.

The command reads the waveform file of the study's last run with WAVES=1, or any FST, VCD or GHW file.

Exit codes: 0, or 2 for an invalid condition, an unknown signal, a missing or damaged file, or a FROM that never occurs.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path

from rich.console import Console

from pymodels.errors import ConfigError, nearest
from tb.ask import measured_page
from tb.ask.conditions import Condition, parse
from tb.ask.intervals import intervals
from tb.ask.measured_page import PAGE, SHOWN, TABLE, Measured
from tb.ask.waveform import Signal, Waveform, WaveformError
from tb.plan import studies
from tb.report import waves
from tb.report.activity import OF_MESSAGES
from tb.report.recorded import LEGEND, read_legend
from tb.report.symbols import read_symbols
from tb.report.terminal import exit_code, say, show
from tb.tools.paths import OUT
from tb.tools.workplace import adding, reading

SUFFIXES = {".fst", ".vcd", ".ghw"}
LEVELS = ("=", "!=")
MESSAGE = "message"
"""Name of EACH for which text signals of messages are their own keys."""


def file_of(word: str) -> Path:
    """Return the waveform file that an argument names: a file, the folder of a run, or a study.

    Raises:
        ConfigError: The study is unknown.
        WaveformError: The run left no waves.
    """
    path = Path(word)
    if path.suffix.lower() in SUFFIXES or path.is_file():
        return path
    folder = path if "/" in word else OUT / word
    if not folder.is_dir() and "/" not in word:
        studies.load(word)  # raises the error for an unknown name
    if not (folder / waves.FILE).is_file():
        remedy = f"record them: make waves STUDY={word}" if "/" not in word else "give the folder of a run with waves"
        raise WaveformError(f"{folder / waves.FILE}", "no such file", remedy)
    return folder / waves.FILE


def open_file(path: Path) -> Waveform:
    """Return a waveform file, with the names of values if it belongs to a run."""
    names: dict[str, Mapping[int, str]] = {}
    if path.name == waves.FILE and (path.parent / LEGEND).is_file():
        symbols = read_symbols(path.parent)
        named = waves.translations(symbols)
        groups = waves.groups(read_legend(path.parent / LEGEND), waves.signals_of(path), symbols)
        names = {one.path: named.get(one.translation, {}) for group in groups for one in group.signals}
    return Waveform(path, names)


def measure(file: Waveform, begin: str, end: str, within: str = "", each: str = "") -> Measured:
    """Return the intervals between two conditions.

    Args:
        file: Waveform file.
        begin: Condition FROM.
        end: Condition TO.
        within: Condition WITHIN; empty: none.
        each: EACH: key of FROM, found in the same scope as the signal of FROM if possible, and optionally the key of
            TO after a comma; empty: none.

    Raises:
        ConfigError: A condition is invalid, or FROM never occurs.
    """
    start, stop = parse(begin, "FROM", file), parse(end, "TO", file)
    around = parse(within, "WITHIN", file) if within else None
    if around and around.op not in LEVELS:
        raise ConfigError("WITHIN", 0, "not a period", f"WITHIN is {within!r}", "give <signal>=<value>")
    key, key_stop = _keys(file, each, start, stop) if each else (None, None)
    found = intervals(start, stop, around, key, key_stop)
    if not len(found.begin) and not found.outside:
        raise ConfigError("FROM", 0, "no occurrence", f"{start} at no time of the file", _remedy(start))
    texts = {"FROM": str(start), "TO": str(stop)}
    texts |= {"WITHIN": str(around)} if around else {}
    texts |= {"EACH": ", ".join(dict.fromkeys(one.path for one in (key, key_stop) if one))} if key else {}
    return Measured(texts, found, file.tick_ps, each)


def _keys(file: Waveform, each: str, start: Condition, stop: Condition) -> tuple[Signal, Signal | None]:
    """Return the signals with the keys of FROM and of TO; None for TO if it has no such signal beside it.

    Raises:
        ConfigError: A signal is unknown or ambiguous.
    """
    first, comma, second = (word.strip() for word in each.partition(","))
    messages = first.lower().rpartition(".")[2] == MESSAGE
    own = first.lower() == MESSAGE and _is_message(start)
    key = start.signal if own else file.find(first, "EACH", start.signal.path)
    if comma:
        return key, file.find(second, "EACH", stop.signal.path)
    if messages and _is_message(stop):
        return key, stop.signal
    return key, file.beside(stop.signal, MESSAGE if messages else key.path.rpartition(".")[2])


def _is_message(condition: Condition) -> bool:
    """Return True for a condition on a text signal whose values are messages."""
    return condition.signal.is_text and condition.signal.path.rpartition(".")[2] in OF_MESSAGES


def _remedy(condition: Condition) -> str:
    if condition.op not in LEVELS:
        return "choose another signal, or record a longer window"
    return nearest(condition.value, {condition.signal.shown(value) for value in condition.signal.changes[1]})


def report(console: Console, measured: Measured, folder: Path) -> None:
    """Print the distribution and the histogram, and write the page and the table."""
    for option, text in measured.conditions.items():
        say(console, f"{option:6} {text}", "dim")
    if outside := measured.found.outside:
        say(console, f"{outside:,} occurrences of FROM are outside WITHIN", "yellow")
    say(console, "")
    show(console, measured_page.spread_table(measured, SHOWN))
    if (groups := len(set(measured.found.keys))) > SHOWN:
        say(console, f"and {groups - SHOWN:,} more groups: see the page", "dim")
    say(console, "")
    for line in measured_page.bars(measured):
        say(console, line)
    lines = measured_page.endless(measured)
    for line in lines[:SHOWN]:
        say(console, line, "yellow")
    if len(lines) > SHOWN:
        say(console, f"and {len(lines) - SHOWN:,} more without an end", "yellow")
    say(console, f"page: {os.path.relpath(folder / PAGE)}; table: {os.path.relpath(folder / TABLE)}")


def _command(words: argparse.Namespace) -> int:
    path = file_of(words.study)
    own = (path.parent / LEGEND).is_file()
    folder = path.parent if own else OUT / "measure"
    with reading(path.parent):
        measured = measure(open_file(path), words.begin, words.end, words.within, words.each)
    folder.mkdir(parents=True, exist_ok=True)
    with adding(folder, PAGE, TABLE) if own else nullcontext():
        measured_page.write_page(measured, words.study, folder / PAGE)
        measured_page.write_table(measured, folder / TABLE)
    report(Console(emoji=False), measured, folder)
    return 0


def main(argv: list[str] | None = None) -> int:
    """Parse the command line, measure, and return the exit code."""
    parser = argparse.ArgumentParser(
        prog="sanlab measure", description="Measure each interval between two conditions in a waveform file."
    )
    parser.add_argument("study", help="study with waves, the folder of its results, or an FST, VCD or GHW file")
    parser.add_argument("--from", default="", dest="begin", metavar="CONDITION", help='begin: "a.b=4", "a.b rises"')
    parser.add_argument("--to", default="", dest="end", metavar="CONDITION", help='end: "falls" and "changes", too')
    parser.add_argument("--within", default="", metavar="CONDITION", help="only intervals while this holds: a.b=4")
    parser.add_argument(
        "--each", default="", metavar="SIGNAL[,SIGNAL]", help="match FROM and TO by the value of this signal, and group"
    )
    words = parser.parse_args(argv)
    return exit_code(lambda: _command(words), "nothing was measured")


if __name__ == "__main__":
    sys.exit(main())
