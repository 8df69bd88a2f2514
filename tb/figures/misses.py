"""Misses: held-out rows whose published score lies outside the interval of 90 %, with their explanations.

`misses.toml` names for each miss the mechanism that the model lacks, the test of this explanation, and its result.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, repeat
from pathlib import Path

from pymodels.errors import ConfigError, nearest
from pymodels.published_scores import unit
from pymodels.toml import read_toml
from tb.figures.held_out import HeldOut
from tb.figures.rows import Row
from tb.report.tables import Table, number

FILE = Path(__file__).with_name("misses.toml")
KEYS = ("row", "mechanism", "test", "result")
COLUMNS = ("row", "published", "held out", "mechanism", "test", "result")
UNEXPLAINED = "not explained"


@dataclass(frozen=True)
class Miss:
    """Explanation of a missed row: missing mechanism, test of this explanation, and result of the test."""

    row: str
    mechanism: str
    test: str
    result: str


def load_misses(path: Path = FILE) -> dict[str, Miss]:
    """Return the explanations by row. Raises ConfigError for an incomplete or repeated entry."""
    data, text = read_toml(path)
    entries = data.get("miss", [])
    if data.keys() - {"miss"} or not isinstance(entries, list):
        cause = ", ".join(data)
        raise ConfigError(str(path), 0, "invalid explanations of misses", cause, "write each entry below [[miss]]")
    starts = (at for at, line in enumerate(text.splitlines(), 1) if line.strip() == "[[miss]]")
    found: dict[str, Miss] = {}
    for line, entry in zip(chain(starts, repeat(0)), entries, strict=False):
        if set(entry) != set(KEYS) or not all(isinstance(one, str) and one.strip() for one in entry.values()):
            remedy = f"write {', '.join(KEYS)}; each is a text"
            raise ConfigError(str(path), line, "invalid explanation of a miss", ", ".join(entry), remedy)
        if entry["row"] in found:
            raise ConfigError(
                str(path), line, "repeated explanation of a miss", repr(entry["row"]), "merge both entries"
            )
        found[entry["row"]] = Miss(**entry)
    return found


def missed(found: Sequence[Row], held: Mapping[str, HeldOut]) -> list[Row]:
    """Return the held-out rows whose published score lies outside the interval, in the order of the rows."""
    return [row for row in found if row.value.name in held and not held[row.value.name].inside]


def check_misses(found: Sequence[Row], held: Mapping[str, HeldOut], misses: Mapping[str, Miss]) -> list[str]:
    """Return a description of each miss without an explanation and of each explanation without a miss.

    Args:
        found: All rows.
        held: Held-out predictions by name of a row.
        misses: Explanations by name of a row.
    """
    names, outside = {row.value.name for row in found}, {row.value.name for row in missed(found, held)}
    told = [f"{name}: missed without an entry in {FILE.name}" for name in sorted(outside - misses.keys())]
    for name in sorted(misses.keys() - outside):
        if name not in names:
            told.append(f"{name}: unknown row; {nearest(name, names)}")
        else:
            told.append(f"{name}: {'inside its interval' if name in held else 'not held out'}; delete the entry")
    return told


def miss_table(found: Sequence[Row], held: Mapping[str, HeldOut], misses: Mapping[str, Miss]) -> Table:
    """Return the missed rows with interval and explanation; arguments as for `check_misses`."""
    lines = (_line(row, held[row.value.name], misses.get(row.value.name)) for row in missed(found, held))
    return Table(COLUMNS, tuple(lines), words=len(COLUMNS))


def _line(row: Row, one: HeldOut, miss: Miss | None) -> tuple[str, ...]:
    measure = unit(row.value)
    told = (miss.mechanism, miss.test, miss.result) if miss else (UNEXPLAINED, "", "")
    interval = f"{number(one.best)} ({number(one.low)} - {number(one.high)})"
    return (row.value.name, f"{number(one.published)} {measure}", interval, *told)
