"""Unit and definition of each metric and series, from `tb/studies/measured.toml` of every root.

`python -m tb.report.measured` writes the page `tb/studies/measured.md`; `--check` compares instead.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

from pymodels.errors import ConfigError
from pymodels.results import write_atomically
from pymodels.roots import TREE, roots
from pymodels.toml import read_toml
from tb.report.tables import Table

FILE, PAGE = "tb/studies/measured.toml", "tb/studies/measured.md"
ANY = "any"
"""Section of definitions for every study."""
PLACE = re.compile(r"\{\w+\}")
COMMAND = "python -m tb.report.measured"


class Definition(NamedTuple):
    """Name pattern with unit and definition. The unit is empty for a series, whose units are in the results."""

    pattern: str
    unit: str
    text: str

    @property
    def literal(self) -> int:
        """Number of characters of the pattern outside of braces."""
        return len(PLACE.sub("", self.pattern))

    def fits(self, name: str) -> bool:
        """Return True if the pattern matches a name; a word in braces matches any text."""
        return re.fullmatch(".+".join(map(re.escape, PLACE.split(self.pattern))), name) is not None


Definitions = Mapping[str, tuple[Definition, ...]]
"""Definitions by kind, `metrics` or `series`."""


@cache
def declared() -> dict[str, Definitions]:
    """Return the definitions of all roots by study. Raises ConfigError for an entry without unit or text."""
    found: dict[str, Definitions] = {}
    for file in (path for root in roots() if (path := root / FILE).is_file()):
        for study, kinds in read_toml(file)[0].items():
            found[study] = {
                kind: tuple(_definition(file, kind, *row) for row in rows.items()) for kind, rows in kinds.items()
            }
    return found


def _definition(file: Path, kind: str, pattern: str, text: str) -> Definition:
    unit, semicolon, meaning = text.partition("; ") if kind == "metrics" else ("", "; ", text)
    if not semicolon or not meaning:
        raise ConfigError(str(file), 0, f"metric {pattern!r} without a unit", repr(text), 'write "unit; definition"')
    return Definition(pattern, unit, meaning)


def definition(study: str, kind: str, name: str) -> Definition | None:
    """Return the definition of a study's metric or series by its most specific pattern, or None."""
    known = declared()
    rows = (*known.get(study, {}).get(kind, ()), *known.get(ANY, {}).get(kind, ()))
    return max((row for row in rows if row.fits(name)), key=lambda row: row.literal, default=None)


def with_definitions(study: str, table: Table) -> Table:
    """Return a table of metrics with a column of definitions; unchanged if no metric has a definition."""
    known = [definition(study, "metrics", name) for name, _ in table.rows]
    if not any(known):
        return table
    texts = [f"{one.text}, {one.unit}" if one else "" for one in known]
    rows = tuple((name, text, value) for (name, value), text in zip(table.rows, texts, strict=True))
    return Table(("metric", "definition", "value"), rows, words=2)


def render() -> str:
    """Return the text of the page."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield "# Metrics and series of the studies"
    yield ""
    yield "For everybody who reads `results.json`, a report or a table of a sweep: unit and definition of each name."
    yield "Words in braces stand for parts of a name. Times are simulated time unless the name begins with `wall_`. A"
    yield "series has its units in the results; the table says what is drawn."
    yield ""
    yield f"Written from `measured.toml` by `{COMMAND}`; do not edit."
    for study, kinds in sorted(declared().items(), key=lambda item: (item[0] != ANY, item[0])):
        yield from ("", "## Every study" if study == ANY else f"## {study}")
        if metrics := kinds.get("metrics", ()):
            yield from ("", "| metric | unit | definition |", "|---|---|---|")
            yield from (f"| `{one.pattern}` | {one.unit} | {one.text} |" for one in metrics)
        if series := kinds.get("series", ()):
            yield from ("", "| series | what |", "|---|---|")
            yield from (f"| `{one.pattern}` | {one.text} |" for one in series)


def main(arguments: list[str] | None = None) -> int:
    """Write the page, or compare it with `--check`; return the exit code."""
    parser = argparse.ArgumentParser(prog=COMMAND, description="Write the page of metrics and series.")
    parser.add_argument("--check", action="store_true", help="compare with the committed page instead of writing it")
    page, text = TREE / PAGE, render()
    if not parser.parse_args(arguments).check:
        write_atomically(page, text)
    elif not page.exists() or page.read_text(encoding="utf-8") != text:
        print(f"{PAGE}: differs; run `{COMMAND}`", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
