"""Each number of the papers has a row of `pymodels/published.toml`, or a reason for its absence.

Strategy: the list is a page, read as tables. The names in it, with `*` for any words, are compared with the names of
the rows, both ways; a test that is named beside a reason must exist. Lines with one fault each show that the checks can
fail.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Sequence

import pytest

from pymodels.published import load_published
from tb.tools.paths import ROOT

TEXT = (ROOT / "tb" / "figures" / "numbers.md").read_text(encoding="utf-8")
NAMES = tuple(value.name for value in load_published())


def lines(text: str) -> list[list[str]]:
    """Return the cells of each row of each table, without headings and rules."""
    rows = [
        row for row in text.splitlines() if row.startswith("| ") and not row.startswith(("| place |", "| reason |"))
    ]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]


def faults(text: str, names: Sequence[str]) -> list[str]:
    """List the faults of a list of numbers."""
    rows = lines(text)
    reasons = {row[0] for row in rows if len(row) == 2}
    told = [part.strip() for row in rows if len(row) == 3 for part in row[2].split(";")]
    held = [part.split(": ", 1) for part in told if part.split(":")[0] in reasons and ": " in part]
    told = [part.split(":")[0] if part.split(":")[0] in reasons else part for part in told]
    patterns = [part for part in told if part not in reasons]
    found = [f"neither row nor reason: {part}" for part in patterns if not fnmatch.filter(names, part)]
    found += [f"stands for no number: {name}" for name in names if not any(fnmatch.fnmatch(name, p) for p in patterns)]
    found += [f"no such file: {path}" for _, path in held if not (ROOT / path).is_file()]
    return found + [f"reason without a number: {reason}" for reason in sorted(reasons - set(told))]


def test_every_published_number_has_a_row_or_a_reason() -> None:
    assert faults(TEXT, NAMES) == []


def test_the_list_covers_all_five_papers() -> None:
    assert re.findall(r"^## Paper (\d+)", TEXT, re.MULTILINE) == ["000", "001", "002", "003", "004"]


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("| UDP over Myrinet, one way |", "| UDP by pigeon |", "neither row nor reason: UDP by pigeon"),
        ("| UDP over Myrinet, one way |", "| elsewhere |", "stands for no number: UDP over Myrinet, one way"),
        ("test_sp_format.py", "test_of_nothing.py", "no such file: tests/unit/hardware/test_of_nothing.py"),
        ("| definition |", "| testbed |", "reason without a number: definition"),
    ],
)
def test_errors_in_the_list_of_numbers_are_detected(old: str, new: str, fault: str) -> None:
    assert old in TEXT
    head, tail = TEXT.split("## Paper 000", 1)
    assert fault in faults(f"{head}## Paper 000{tail.replace(old, new)}", NAMES)
