"""`make compare` (`python -m tb.ask.compare A B`): changes between two runs or two sweeps, largest first.

All metrics and curve points are compared except wall times, which differ between any two runs. Of two sweeps, points
with equal positions on the axes are compared.

Exit codes: 0 if no change exceeds the threshold, 1 if one does, 2 for a missing, damaged or incompatible file.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from pymodels.errors import ConfigError
from pymodels.numerals import real
from pymodels.results import WALL, Results, ResultsError, Series, read_results
from tb.report import tables
from tb.report.swept import FILE, Swept, read_swept
from tb.report.tables import STAGE, Table
from tb.report.terminal import complain, say, show
from tb.tools.paths import OUT

PERCENT = 5.0
"""Default threshold in percent (our choice)."""
SWEPT = Path(FILE).suffix
SHOWN = 40
"""Maximum number of changes in the table."""


@dataclass(frozen=True)
class Change:
    """Value in two runs; None where a run lacks it."""

    name: str
    before: float | None
    after: float | None

    @property
    def share(self) -> float:
        """Signed change relative to the value before; infinite from zero or if only one run has the value."""
        if self.before is None or self.after is None:
            return math.inf
        if self.before == self.after:
            return 0.0
        return (self.after - self.before) / abs(self.before) if self.before else math.inf

    @property
    def text(self) -> str:
        """Text of the change."""
        if self.before is None or self.after is None:
            return "only in B" if self.before is None else "only in A"
        return "from 0" if math.isinf(self.share) else percent(self.share)


def compared(before: Results, after: Results) -> list[Change]:
    """Return each changed metric and curve point, largest change first, equal changes by name."""
    one, two = dict(_values(before)), dict(_values(after))
    changes = [Change(name, one.get(name), two.get(name)) for name in sorted(one.keys() | two.keys())]
    return sorted((c for c in changes if c.share), key=lambda change: -abs(change.share))


def _values(results: Results) -> Iterator[tuple[str, float]]:
    yield from ((name, value) for name, value in results.metrics.items() if not name.startswith(WALL))
    for name, series in results.series.items():
        if not name.startswith(WALL):
            yield from _points(name, series)


def _points(name: str, series: Series) -> Iterator[tuple[str, float]]:
    """Yield the points of a curve by their x; a repeated x gets a counter."""
    seen: dict[float, int] = {}
    for x, y in zip(series.x, series.y, strict=False):
        seen[x] = count = seen.get(x, 0) + 1
        yield f"{name} at {tables.number(x)} {series.x_unit}" + (f" ({count})" if count > 1 else ""), y


def circumstances(before: Results, after: Results) -> list[str]:
    """Return the differing inputs of two runs as lines of text: settings first, then versions."""
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


def compared_sweeps(before: Swept, after: Swept) -> list[Change]:
    """Return the changed metrics of the points common to both sweeps, largest change first.

    Raises:
        ConfigError: The sweeps have different axes or no common point.
    """
    if set(before.axes) != set(after.axes):
        axes = f"A has {' '.join(before.axes)}, B {' '.join(after.axes)}"
        raise ConfigError("B", 0, "other axes", axes, "compare sweeps along the same axes")
    others = after.along(before.axes).points
    both = before.points.keys() & others.keys()
    if not both:
        raise ConfigError(
            "B", 0, "no common point", "the sweeps share no position on the axes", "sweep over common values"
        )
    changes = [
        Change(f"{name} at {before.place(place)}", before.points[place].get(name), others[place].get(name))
        for place in sorted(both)
        for name in sorted({*before.points[place], *others[place]})
        if not name.startswith(WALL)
    ]
    known = (one for one in changes if one.before is not None or one.after is not None)
    return sorted((one for one in known if one.share), key=lambda change: -abs(change.share))


def sweep_circumstances(before: Swept, after: Swept) -> list[str]:
    """Return the differing inputs of two sweeps as lines of text."""
    names = [name for name in before.besides if before.besides[name] != after.besides.get(name)]
    lines = [f"{name}: {_together(before.besides[name])} -> {_together(after.besides.get(name, ()))}" for name in names]
    one, two = before.points.keys(), after.along(before.axes).points.keys()
    return lines + ([f"points: {len(one - two)} only in A, {len(two - one)} only in B"] if one != two else [])


def change_table(changes: Sequence[Change]) -> Table:
    """Return the table of changes without stages, which `stage_table` shows."""
    rows = [
        (change.name, _value(change.before), _value(change.after), change.text)
        for change in changes
        if not STAGE.fullmatch(change.name)
    ]
    return Table(("changed value", "A", "B", "change"), tuple(rows[:SHOWN]))


def stage_table(before: Results, after: Results) -> Table:
    """Return the stages of a message in order, each with its change in us and as a share of the latency of A."""
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
    """Return a signed share as a percentage."""
    return f"{100 * share:+.2f} %"


def _together(values: Sequence[object]) -> str:
    return ", ".join(map(str, values))


def _value(value: float | None) -> str:
    return "-" if value is None else tables.number(value)


def find(word: str, name: str) -> Path:
    """Return the file that an argument names.

    Args:
        word: File, folder of a run or sweep, study (its last run), or `sweep/<study>`.
        name: Make variable of the argument, for the error.

    Raises:
        ConfigError: The argument is empty.
    """
    if not word:
        raise ConfigError(name, 0, "not given", "compare needs two results", f"give {name}=<results.json or folder>")
    path = Path(word)
    for candidate in (path, *(folder / file for folder in (path, OUT / word) for file in ("results.json", FILE))):
        if candidate.is_file():
            return candidate
    return path / "results.json" if path.is_dir() else path


def threshold(text: str) -> float:
    """Return the threshold in percent. Raises ConfigError for an invalid percentage."""
    try:
        value = real(text.removesuffix("%")) if text else PERCENT
    except ValueError:
        value = math.nan
    if not value >= 0 or math.isinf(value):
        raise ConfigError("THRESHOLD", 0, "invalid percentage", f"THRESHOLD is {text!r}", "give 0 or more, such as 2.5")
    return value


def report(console: Console, before: Results, after: Results, limit: float) -> int:
    """Print the changes between two runs and return the exit code; `limit` is in percent."""
    say(console, f"A: {before.study}, {tables.inputs(before)}", "dim")
    say(console, f"B: {after.study}, {tables.inputs(after)}", "dim")
    other = circumstances(before, after)
    for line in other[:SHOWN]:
        say(console, f"different {line}", "yellow")
    if len(other) > SHOWN:
        say(console, f"and {len(other) - SHOWN} more differences between the runs", "yellow")
    changes = compared(before, after)
    return verdict(console, changes, (change_table(changes), stage_table(before, after)), limit)


def report_sweeps(console: Console, before: Swept, after: Swept, limit: float) -> int:
    """Print the changes between two sweeps and return the exit code; `limit` is in percent. Raises ConfigError."""
    changes = compared_sweeps(before, after)
    for name, one in (("A", before), ("B", after)):
        say(console, f"{name}: {os.path.relpath(one.path)}, {len(one.points)} points along {' '.join(one.axes)}", "dim")
    for line in sweep_circumstances(before, after):
        say(console, f"different {line}", "yellow")
    return verdict(console, changes, (change_table(changes),), limit)


def verdict(console: Console, changes: Sequence[Change], shown: Sequence[Table], limit: float) -> int:
    """Print the tables and the number of changes above `limit` percent; return 1 if there are any, else 0."""
    for table in shown:
        if table:
            say(console, "")
            show(console, table)
    above = [change for change in changes if abs(change.share) * 100 > limit]
    say(console, "")
    if not changes:
        say(console, "nothing changed", "bold")
    else:
        counted = f"{len(changes)} values changed, {len(above)} by more than {limit:g} %"
        say(console, counted + (f", most: {above[0].name}" if above else ""), "bold red" if above else "bold")
    return 1 if above else 0


def main(argv: list[str] | None = None) -> int:
    """Parse the command line, compare, and return the exit code."""
    parser = argparse.ArgumentParser(
        prog="sanlab compare", description="Show the changes between two runs or two sweeps."
    )
    parser.add_argument("--threshold", default="", help=f"percent above which a change fails (default {PERCENT:g})")
    parser.add_argument("before", metavar="A", help="a study's name, the folder of a run or sweep, or sweep/STUDY")
    parser.add_argument("after", metavar="B", help="the same")
    words = parser.parse_args(argv)
    try:
        limit = threshold(words.threshold)
        paths = [find(word, name) for word, name in ((words.before, "A"), (words.after, "B"))]
        sweeps = [path.suffix == SWEPT for path in paths]
        if all(sweeps):
            return report_sweeps(Console(emoji=False), read_swept(paths[0]), read_swept(paths[1]), limit)
        if any(sweeps):
            raise ConfigError("B", 0, "a run and a sweep", " and ".join(map(str, paths)), "give two runs or two sweeps")
        before, after = map(read_results, paths)
    except ConfigError as error:
        complain(str(error))
        return error.exit_code
    except ResultsError as error:
        complain(str(error))
        return 2
    return report(Console(emoji=False), before, after, limit)


if __name__ == "__main__":
    sys.exit(main())
