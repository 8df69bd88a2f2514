"""`python -m tb.ask.compare A B`, the command of `make compare`: the changes between two runs, largest first.

Every metric and every point of a curve counts, up or down; wall time does not: it differs between any two runs. Exit
code 0 when no change is above the threshold, 1 when one is, 2 when a file is missing, damaged or of another schema.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from pymodels.errors import ConfigError
from pymodels.numerals import real
from pymodels.results import WALL, Results, ResultsError, Series, read_results
from tb.report import tables
from tb.report.tables import STAGE, Table
from tb.report.terminal import complain, say, show
from tb.tools.paths import OUT

PERCENT = 5.0
"""Threshold where none is given (ours)."""
SHOWN = 40
"""Rows of changes that are shown."""


@dataclass(frozen=True)
class Change:
    """One value of both runs; None where a run has none."""

    name: str
    before: float | None
    after: float | None

    @property
    def share(self) -> float:
        """The change relative to the value before, signed; infinite from zero, or where only one run has it."""
        if self.before is None or self.after is None:
            return math.inf
        if self.before == self.after:
            return 0.0
        return (self.after - self.before) / abs(self.before) if self.before else math.inf

    @property
    def told(self) -> str:
        """The change in words."""
        if self.before is None or self.after is None:
            return "only in B" if self.before is None else "only in A"
        return "from 0" if math.isinf(self.share) else percent(self.share)


def compared(before: Results, after: Results) -> list[Change]:
    """Every metric and every point of a curve that changed, largest first; equal changes by name."""
    one, two = dict(_values(before)), dict(_values(after))
    changes = [Change(name, one.get(name), two.get(name)) for name in sorted(one.keys() | two.keys())]
    return sorted((c for c in changes if c.share), key=lambda change: -abs(change.share))


def _values(results: Results) -> Iterator[tuple[str, float]]:
    yield from ((name, value) for name, value in results.metrics.items() if not name.startswith(WALL))
    for name, series in results.series.items():
        if not name.startswith(WALL):
            yield from _points(name, series)


def _points(name: str, series: Series) -> Iterator[tuple[str, float]]:
    """The points of a curve by their x; a second point at one x has its number behind it."""
    seen: dict[float, int] = {}
    for x, y in zip(series.x, series.y, strict=False):
        seen[x] = count = seen.get(x, 0) + 1
        yield f"{name} at {tables.number(x)} {series.x_unit}" + (f" ({count})" if count > 1 else ""), y


def circumstances(before: Results, after: Results) -> list[str]:
    """Return what the two runs followed from and differ in, as lines of text: settings first, then versions."""
    absent = "(absent)"
    keys = sorted(before.settings.keys() | after.settings.keys())
    known = before.versions.keys() | after.versions.keys()
    roots = before.commits.keys() | after.commits.keys()
    pairs: tuple[tuple[str, object, object], ...] = (
        *((f"setting {key}", before.settings.get(key, absent), after.settings.get(key, absent)) for key in keys),
        ("firmware", before.firmware, after.firmware),
        ("study", before.study, after.study),
        ("simulator", before.simulator, after.simulator),
        ("seed", before.seed, after.seed),
        ("cluster", before.cluster.get("name"), after.cluster.get("name")),
        ("hosts", len(before.cluster.get("hosts", ())), len(after.cluster.get("hosts", ()))),
        ("profile", before.profile, after.profile),
        *((f"version of {name}", before.versions.get(name), after.versions.get(name)) for name in sorted(known)),
        *((f"commit of {name}", before.commits.get(name), after.commits.get(name)) for name in sorted(roots)),
    )
    return [f"{name}: {a} -> {b}" for name, a, b in pairs if a != b]


def change_table(changes: Sequence[Change]) -> Table:
    """The changes as rows; stages have a table of their own."""
    rows = [
        (change.name, _value(change.before), _value(change.after), change.told)
        for change in changes
        if not STAGE.fullmatch(change.name)
    ]
    return Table(("what changed", "A", "B", "change"), tuple(rows[:SHOWN]))


def stage_table(before: Results, after: Results) -> Table:
    """Every stage of a message in its order: the time lost or gained, and its share of the whole change."""
    one, two = ({stage.name: stage.us for stage in tables.stages(r.metrics)} for r in (before, after))
    names = list(dict.fromkeys((*one, *two)))
    if not names or one == two:
        return Table(("stage", "A us", "B us", "B - A", "of A"), ())
    whole = sum(one.values())
    lines = [(name, one.get(name), two.get(name)) for name in names]
    rows = [_stage_row(name, a, b, whole) for name, a, b in (*lines, ("together", whole, sum(two.values())))]
    return Table(("stage", "A us", "B us", "B - A", "of A"), tuple(rows))


def _stage_row(name: str, a: float | None, b: float | None, whole: float) -> tuple[str, ...]:
    change = (b or 0.0) - (a or 0.0)
    cells = ("-" if value is None else f"{value:,.3f}" for value in (a, b))
    return name, *cells, f"{change:+.3f}", percent(change / whole) if whole else "-"


def percent(share: float) -> str:
    """A signed share as a percentage."""
    return f"{100 * share:+.2f} %"


def _value(value: float | None) -> str:
    return "-" if value is None else tables.number(value)


def find(word: str, name: str) -> Path:
    """The results file that an argument names: a file, the folder of a run, or a study, whose last run is taken."""
    if not word:
        raise ConfigError(name, 0, "not given", "two results are compared", f"give {name}=<results.json or folder>")
    path = Path(word)
    for candidate in (path, path / "results.json", OUT / word / "results.json"):
        if candidate.is_file():
            return candidate
    return path / "results.json" if path.is_dir() else path


def threshold(text: str) -> float:
    """The threshold in percent. Raises ConfigError for what is none."""
    try:
        value = real(text.removesuffix("%")) if text else PERCENT
    except ValueError:
        value = math.nan
    if not value >= 0 or math.isinf(value):
        raise ConfigError("THRESHOLD", 0, "no percentage", f"THRESHOLD is {text!r}", "give 0 or more, such as 2.5")
    return value


def report(console: Console, before: Results, after: Results, limit: float) -> int:
    """Show what changed; the exit code. `limit` in percent."""
    say(console, f"A: {before.study}, {tables.told(before)}", "dim")
    say(console, f"B: {after.study}, {tables.told(after)}", "dim")
    other = circumstances(before, after)
    for line in other[:SHOWN]:
        say(console, f"not the same {line}", "yellow")
    if len(other) > SHOWN:
        say(console, f"and {len(other) - SHOWN} more differences between the runs", "yellow")
    changes = compared(before, after)
    for table in (change_table(changes), stage_table(before, after)):
        if table:
            say(console, "")
            show(console, table)
    above = [change for change in changes if abs(change.share) * 100 > limit]
    say(console, "")
    if not changes:
        say(console, "nothing changed", "bold")
    else:
        verdict = f"{len(changes)} values changed, {len(above)} by more than {limit:g} %"
        say(console, verdict + (f", most: {above[0].name}" if above else ""), "bold red" if above else "bold")
    return 1 if above else 0


def main(argv: list[str] | None = None) -> int:
    """Parse the command line and compare; the exit code."""
    parser = argparse.ArgumentParser(prog="sanlab compare", description="What changed between two runs.")
    parser.add_argument("--threshold", default="", help=f"percent above which a change fails (default {PERCENT:g})")
    parser.add_argument("before", metavar="A", help="results.json, the folder of a run, or a study's name")
    parser.add_argument("after", metavar="B", help="the same")
    words = parser.parse_args(argv)
    try:
        limit = threshold(words.threshold)
        before, after = (read_results(find(word, name)) for word, name in ((words.before, "A"), (words.after, "B")))
    except ConfigError as error:
        complain(str(error))
        return error.exit_code
    except ResultsError as error:
        complain(str(error))
        return 2
    return report(Console(emoji=False), before, after, limit)


if __name__ == "__main__":
    sys.exit(main())
