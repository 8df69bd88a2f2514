"""Misses: held-out rows outside their interval, and their explanations.

Strategy: made-up calibrations hold one row inside and one outside of its interval. Made-up explanations name each of
them, or an unknown row. The committed explanations are checked against the committed calibrations.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from rich.console import Console

from pymodels.errors import ConfigError
from pymodels.published import load_published
from tb.figures import summary
from tb.figures.fidelity import leave
from tb.figures.held_out import committed_calibrations
from tb.figures.misses import FILE, KEYS, Miss, check_misses, load_misses, missed
from tb.figures.pages import html, markdown
from tb.figures.record import load_record
from tb.figures.rows import Row, rows
from tb.figures.summary import Evidence, evidence
from tb.tools.paths import ROOT
from tests.unit.figures.madeup import VALUE, calibration, read, row

ENTRY = """[[miss]]
row = "far"
mechanism = "a queue of the switch"
test = "make run STUDY=echo_pingpong"
result = "3.1 us with the queue"
"""
COMMANDS = ("make ", "sanlab ", ".venv/bin/")


def written(tmp_path: Path, text: str) -> dict[str, Miss]:
    """Return the explanations of a file with this text."""
    path = tmp_path / "misses.toml"
    path.write_text(text, encoding="utf-8")
    return load_misses(path)


def one_missed(tmp_path: Path) -> Evidence:
    """Return evidence with a row inside and a row outside of its interval, and a row that is not held out."""
    found = [row(), row(name="far", family="grim"), row(name="alone")]
    return evidence(found, read(tmp_path / "known", calibration(), calibration("grim", "far", high=1.9)))


def test_each_miss_of_committed_calibrations_has_an_explanation_and_no_other_row_has_one() -> None:
    known = evidence(rows(load_published(), [], load_record(), {}), committed_calibrations())
    assert check_misses(known.rows, known.held, load_misses()) == []


def test_each_committed_explanation_was_tested_by_a_command_or_a_file() -> None:
    for miss in load_misses().values():
        assert miss.test.startswith(COMMANDS) or (ROOT / miss.test).is_file(), f"{miss.row}: {miss.test}"


def test_a_miss_is_a_held_out_row_outside_its_interval(tmp_path: Path) -> None:
    known = one_missed(tmp_path)
    assert [one.value.name for one in missed(known.rows, known.held)] == ["far"]


def test_missing_and_unfounded_explanations_are_named(tmp_path: Path) -> None:
    known = one_missed(tmp_path)
    entry = written(tmp_path, ENTRY)["far"]
    assert check_misses(known.rows, known.held, {"far": entry}) == []
    assert check_misses(known.rows, known.held, {}) == ["far: missed without an entry in misses.toml"]
    wrong = {"far": entry, VALUE.name: entry, "alone": entry, "farr": entry}
    assert check_misses(known.rows, known.held, wrong) == [
        "A on LANai 9: inside its interval; delete the entry",
        "alone: not held out; delete the entry",
        "farr: unknown row; did you mean 'far'?",
    ]


@pytest.mark.parametrize(
    ("text", "error"),
    [
        (ENTRY.replace("test =", "tested ="), "misses.toml:1: invalid explanation of a miss: row, mechanism, tested"),
        (ENTRY.replace('"3.1 us with the queue"', "3.1"), "misses.toml:1: invalid explanation of a miss"),
        (ENTRY.replace("3.1 us with the queue", " "), "misses.toml:1: .*; write row, mechanism, test, result; each"),
        (ENTRY + "\n" + ENTRY, "misses.toml:7: repeated explanation of a miss: 'far'; merge both entries"),
        (ENTRY.replace("[[miss]]", "[[misses]]"), "invalid explanations of misses: misses; write each entry below"),
        (ENTRY.replace("[[miss]]", "[miss]"), "invalid explanations of misses: miss; write each entry below"),
    ],
)
def test_an_invalid_explanation_is_rejected_with_its_line(tmp_path: Path, text: str, error: str) -> None:
    with pytest.raises(ConfigError, match=error):
        written(tmp_path, text)


def test_the_head_of_the_file_describes_each_key() -> None:
    text = FILE.read_text(encoding="utf-8")
    assert all(f"# {key} = " in text for key in KEYS) and "# [[miss]]" in text


def pages(found: list[Row], tmp_path: Path) -> list[str]:
    """Return both forms of the page for calibrations with one miss."""
    known = one_missed(tmp_path).calibrations
    return [form(found, {}, known) for form in (markdown, html)]


def test_the_page_names_mechanism_test_and_result_of_a_miss(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(summary, "load_misses", lambda: written(tmp_path, ENTRY))
    found = list(one_missed(tmp_path).rows)
    for page in (form(found, {}, one_missed(tmp_path / form.__name__).calibrations) for form in (markdown, html)):
        told = page[page.index("Misses") : page.index("Families")]
        for text in ("far", "2 us", "2.200 (1.500 - 1.900)", *list(vars(written(tmp_path, ENTRY)["far"]).values())):
            assert text in told
        assert "not explained" not in told and VALUE.name not in told and "alone" not in told


def test_a_miss_without_an_entry_is_shown_as_not_explained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(summary, "load_misses", dict)
    found = [row(), row(name="far", family="grim")]
    for page in pages(found, tmp_path):
        told = page[page.index("Misses") : page.index("Families")]
        assert told.count("not explained") == 1
    for page in pages(found[:1], tmp_path / "inside"):
        assert "each held-out row lies inside its interval" in page and "not explained" not in page


def test_programs_get_the_explanation_of_a_miss(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    both = ENTRY + ENTRY.replace('"far"', f'"{VALUE.name}"')  # the second row is inside its interval
    monkeypatch.setattr(summary, "load_misses", lambda: written(tmp_path, both))
    known = one_missed(tmp_path)
    assert leave(tmp_path / "out", known.rows, Console(quiet=True), known.calibrations) == 0
    told = json.loads((tmp_path / "out" / "fidelity.json").read_text(encoding="utf-8"))["rows"]
    assert [one["miss"] for one in told] == [
        None,
        {
            "mechanism": "a queue of the switch",
            "test": "make run STUDY=echo_pingpong",
            "result": "3.1 us with the queue",
        },
        None,
    ]
