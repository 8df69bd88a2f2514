"""Tables of a result as rows of text, for the terminal and for the page.

Metrics are recognised by name. `one_way_us_<size>B` and `bandwidth_MBps_<size>B` form the table of sizes.
`stage_us_<nn>_<name>` are the stages of a message in the order of nn. `L_<condition>`, `U_<condition>` and
`B_<condition>` are latency, utilisation and bandwidth under conditions. All other metrics form one table.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from pymodels.results import Comparison, Cost, Kind, Results

SIZED = re.compile(r"(one_way_us|bandwidth_MBps)_(\d+)B")
STAGE = re.compile(r"stage_us_(\d+)_(\w+)")
CONDITION = re.compile(r"([LUB])_(\w+)")
KINDS = {
    Kind.PREDICTED: "a result for which nothing was set",
    Kind.STRUCTURE: "a result of firmware or a library that was rebuilt with this value in view",
    Kind.CALIBRATED: "a value to which a parameter was tuned",
    Kind.INPUT: "an input, measured again as a check",
    Kind.ESTIMATED: "the paper's own estimate",
    Kind.QUOTED: "for comparison only; a measured value next to it is not judged",
}


class Described(Protocol):
    """Properties of a study that a report needs."""

    @property
    def name(self) -> str:
        """Name of the study."""

    @property
    def question(self) -> str:
        """Question of the study."""


@dataclass(frozen=True)
class Stage:
    """Stage of a message: name, length in us, and share of the whole (0 to 1)."""

    name: str
    us: float
    share: float


@dataclass(frozen=True)
class Table:
    """Headings and rows of text. The first `words` columns are left-aligned words, the others right-aligned numbers."""

    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    words: int = 1

    def __bool__(self) -> bool:
        return bool(self.rows)


def number(value: float) -> str:
    """Return a number as text: integers without fraction, others with at least four digits."""
    if float(value).is_integer() and abs(value) < 1e15:
        return f"{int(value):,}"
    if abs(value) >= 1e15 or abs(value) < 1:
        return f"{value:.4g}"
    digits = 0 if abs(value) >= 1e4 else 1 if abs(value) >= 1e3 else 2 if abs(value) >= 10 else 3
    return f"{value:,.{digits}f}"


def size(bytes_: float) -> str:
    """Return a memory size as text: `64 B`, `4 KB`, `1 MB`, only in whole multiples."""
    for unit, factor in (("MB", 1 << 20), ("KB", 1 << 10)):
        if bytes_ >= factor and bytes_ % factor == 0:
            return f"{int(bytes_) // factor} {unit}"
    return f"{number(bytes_)} B"


def sizes(metrics: Mapping[str, float]) -> Table:
    """Return latency and bandwidth over size, without empty columns."""
    found: dict[str, dict[int, float]] = {"one_way_us": {}, "bandwidth_MBps": {}}
    for name, value in metrics.items():
        match = SIZED.fullmatch(name)
        if match:
            found[match[1]][int(match[2])] = value
    columns = [
        (heading, found[key], digits)
        for key, heading, digits in (("one_way_us", "one-way us", 3), ("bandwidth_MBps", "MB/s", 2))
        if found[key]
    ]
    known = sorted({n for _, values, _ in columns for n in values})
    rows = ((size(n), *(f"{v[n]:,.{d}f}" if n in v else "" for _, v, d in columns)) for n in known)
    return Table(("size", *(heading for heading, _, _ in columns)), tuple(rows), words=0)


def stages(metrics: Mapping[str, float]) -> tuple[Stage, ...]:
    """Return the stages of a message in order."""
    found = [(int(match[1]), match[2], value) for name, value in metrics.items() if (match := STAGE.fullmatch(name))]
    whole = sum(value for _, _, value in found)
    return tuple(Stage(name.replace("_", " "), us, us / whole if whole else 0.0) for _, name, us in sorted(found))


def stage_table(parts: Sequence[Stage]) -> Table:
    """Return the stages with their shares and their sum."""
    if not parts:
        return Table(("stage", "us", "share"), ())
    rows = [(part.name, f"{part.us:,.3f}", percent(part.share)) for part in parts]
    whole = ("together", f"{sum(part.us for part in parts):,.3f}", percent(sum(part.share for part in parts)))
    return Table(("stage", "us", "share"), (*rows, whole))


def conditions(metrics: Mapping[str, float]) -> Table:
    """Return latency, utilisation of the host's CPU and bandwidth by condition, in natural order of the names."""
    found: dict[str, dict[str, str]] = {}
    for name, value in metrics.items():
        match = CONDITION.fullmatch(name)
        if match:
            found.setdefault(match[2].replace("_", " "), {})[match[1]] = f"{value:,.{1 if match[1] == 'U' else 2}f}"
    rows = ((name, *(found[name].get(letter, "") for letter in "LUB")) for name in sorted(found, key=_counted))
    return Table(("condition", "latency us", "CPU %", "MB/s"), tuple(rows))


def _counted(name: str) -> list[tuple[int, str]]:
    """Return a sort key of a name that compares numbers as numbers."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", name)]


def others(metrics: Mapping[str, float]) -> Table:
    """Return the metrics without a table of their own."""
    taken = (SIZED, STAGE, CONDITION)
    rows = ((n, number(v)) for n, v in metrics.items() if not any(pattern.fullmatch(n) for pattern in taken))
    return Table(("metric", "value"), tuple(rows))


def published(rows: Sequence[Comparison]) -> Table:
    """Return published values next to measured ones and, if recorded, the first measured ones; a dash: not measured."""
    recorded = any(row.first is not None for row in rows)
    cells = (
        (
            row.name,
            row.source,
            row.kind.value,
            number(row.published),
            *(("-" if row.first is None else number(row.first),) if recorded else ()),
            "-" if row.measured is None else number(row.measured),
            "-" if row.ratio is None else f"{row.ratio:.3f}",
        )
        for row in rows
    )
    headings = ("value", "source", "kind", "published", *(("first",) if recorded else ()), "measured", "ratio")
    return Table(headings, tuple(cells), words=3)


def percent(share: float) -> str:
    """Return a share as a percentage."""
    return f"{100 * share:.1f} %"


def duration(ns: float) -> str:
    """Return simulated time in a suitable unit."""
    for unit, factor in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if ns >= factor:
            return f"{ns / factor:.4g} {unit}"
    return f"{ns:g} ns"


def wall(results: Results) -> list[tuple[str, float]]:
    """Return the parts of a run's wall time: name and share, 0 to 1."""
    if results.wall_s <= 0:
        return []
    spent = results.cost
    rest = max(0.0, results.wall_s - spent.wall_rtl_s - spent.wall_python_s)
    parts = (("RTL", spent.wall_rtl_s), ("Python", spent.wall_python_s), ("other", rest))
    return [(name, seconds / results.wall_s) for name, seconds in parts]


def wall_table(parts: Sequence[tuple[str, float]]) -> Table:
    """Return the shares of the wall time as rows."""
    return Table(("wall", ""), tuple((name, f"{100 * share:.0f} %") for name, share in parts))


def cost(results: Results) -> Table:
    """Return the cost of a run: simulated time, wall time and its parts, Python wake-ups per message."""
    spent: Cost = results.cost
    rows = [("simulated", duration(results.sim_time_ns)), ("wall", f"{results.wall_s:.2f} s")]
    rows += [(name, text) for name, text in wall_table(wall(results)).rows]
    if spent.messages:
        wakes = spent.python_wakes / spent.messages
        each = f"{wakes:.1f}" if wakes >= 1 else f"{wakes:.2g}"
        rows += [("messages of the study", number(spent.messages)), ("wake-ups per message", each)]
    if spent.cycles:
        rows.append(("clock edges", number(spent.cycles)))
    return Table(("cost", ""), tuple(rows))


def inputs(results: Results) -> str:
    """Return the inputs of a run in one line: cluster, profile, simulator, seed, and the given settings."""
    parts = [str(results.cluster.get("name", "")), results.profile, results.simulator, f"seed {results.seed}"]
    parts += [f"{key}={shlex.quote(str(results.settings.get(key, '')))}" for key in results.given]
    return ", ".join(part for part in parts if part)


def start_time(results: Results) -> str:
    """Return the readable start time of a run; empty if not recorded."""
    return results.wall_begun.replace("T", " ").replace("Z", " UTC")


def command(results: Results) -> str:
    """Return the command that repeats a run."""
    given = " ".join(f"{key}={shlex.quote(str(results.settings.get(key, '')))}" for key in results.given)
    cluster = str(results.cluster.get("name", ""))
    named = (("sim", results.simulator), ("seed", results.seed), ("cluster", cluster), ("profile", results.profile))
    words = [f"--{name}={value}" for name, value in (*named, ("set", given)) if value != ""]
    return shlex.join(["sanlab", "run", *words, results.study])


def provenance(results: Results) -> Table:
    """Return firmware mode, time, versions and commits of a run."""
    rows = [("firmware of the NICs", results.firmware), ("start_time", results.wall_begun)]
    rows += [(f"version of {name}", value) for name, value in results.versions.items()]
    rows += [(f"commit of {name}", value) for name, value in results.commits.items()]
    return Table(("run", ""), tuple(row for row in rows if row[1]), words=2)


def settings(results: Results) -> Table:
    """Return all settings in force, given ones marked and first."""
    keys = sorted(results.settings, key=lambda key: key not in results.given)
    rows = ((key, str(results.settings[key]), "given" if key in results.given else "") for key in keys)
    return Table(("setting", "value", ""), tuple(rows), words=3)
