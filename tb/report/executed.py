"""Where the clocks of NICs went that execute firmware in C, by function and by line: left by the run, shown with it."""

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
"""Functions on the terminal."""
NUMBERS = ("clocks", "share", "instructions", "load", "fetch", "grant", "register")
"""What a place has; the last four are clocks of waiting."""
Place = tuple[str, int, int, int, int, int, int]
"""Its name, then its numbers without the share."""


def write_executed(profiles: Mapping[str, Profile], path: Path) -> None:
    """Write the profiles by host, at once or not at all; nothing where no NIC executes. ResultsError when the disk
    refuses.
    """
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
    """Parts of the page: two tables for each NIC that executes."""
    for host, found in _read(folder).items():
        for what, kind in (("function", "functions"), ("line", "lines")):
            yield from section(f"Clocks of the processor of {host}, by {what}", _table(what, found[kind]))


def short(folder: Path) -> Iterator[Table]:
    """For the terminal: the functions of each NIC with the most clocks."""
    for host, found in _read(folder).items():
        yield _table(f"{host}: function", found["functions"], SHORT)


def _table(heading: str, places: list[Place], most: int | None = None) -> Table:
    """The places with the most clocks; shares are of all."""
    whole = sum(clocks for _, clocks, *_ in places)
    rows = (
        (name, f"{clocks:,}", percent(clocks / whole), *(f"{number:,}" for number in numbers))
        for name, clocks, *numbers in places[:most]
    )
    return Table((heading, *NUMBERS), tuple(rows))
