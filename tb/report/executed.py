"""Clock profile of NICs that execute firmware in C, by function and line, written and shown with a run."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from pymodels.lanai.profile import Profile, Row
from pymodels.results import write_atomically
from tb.report.markup import section
from tb.report.tables import Table, percent

FILE = "profile.json"
SCHEMA = 1
SHORT = 8
"""Number of functions shown on the terminal."""
NUMBERS = ("clocks", "share", "instructions", "load", "fetch", "grant", "register")
"""Numbers of a place; the last four are wait clocks."""
Place = tuple[str, int, int, int, int, int, int]
"""Name of a place, then its numbers without the share."""


def write_executed(profiles: Mapping[str, Profile], path: Path) -> None:
    """Write the profiles by host atomically, if any NIC executes firmware. Raises ResultsError if writing fails."""
    if profiles:
        hosts = {host: {"functions": _places(one.functions()), "lines": _places(one.lines())}
                 for host, one in profiles.items()}  # fmt: skip
        write_atomically(path, json.dumps({"schema": SCHEMA, "hosts": hosts}) + "\n")


def _places(rows: Mapping[str, Row]) -> list[Place]:
    return [
        (name, one.spent.clocks, one.instructions, one.spent.load, one.spent.fetch, one.spent.grant, one.spent.register)
        for name, one in rows.items()
    ]


def _read(folder: Path) -> Mapping[str, Mapping[str, list[Place]]]:
    path = folder / FILE
    if not path.exists():
        return {}
    found: Mapping[str, Mapping[str, list[Place]]] = json.loads(path.read_text(encoding="utf-8"))["hosts"]
    return found


def sections(folder: Path) -> Iterator[str]:
    """Yield two tables for each NIC that executes firmware."""
    for host, found in _read(folder).items():
        for what, kind in (("function", "functions"), ("line", "lines")):
            yield from section(f"Clocks of the processor of {host}, by {what}", _table(what, found[kind]))


def short(folder: Path) -> Iterator[Table]:
    """Yield a table of the most expensive functions of each NIC, for the terminal."""
    for host, found in _read(folder).items():
        yield _table(f"{host}: function", found["functions"], SHORT)


def _table(heading: str, places: list[Place], most: int | None = None) -> Table:
    """Return the table of the most expensive places, with shares of all clocks."""
    whole = sum(clocks for _, clocks, *_ in places)
    rows = (
        (name, f"{clocks:,}", percent(clocks / whole), *(f"{number:,}" for number in numbers))
        for name, clocks, *numbers in places[:most]
    )
    return Table((heading, *NUMBERS), tuple(rows))
