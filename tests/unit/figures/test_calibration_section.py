"""Section of the page of fidelity with calibrations, and with the values that published rows narrow.

Strategy: made-up calibrations in the format of `make calibrate` differ in one property each. Cells, order and counts of
both forms of the page and of the JSON are compared with what was put in.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from tb.figures.calibration_tables import COLUMNS, calibration_table, family_table, narrowing, value_table
from tb.figures.fidelity import leave
from tb.figures.pages import html, markdown
from tests.unit.figures.madeup import calibration, read, row, uncertain

RATIOS = {f"key{at}": 0.9 - at / 15 for at in range(12)}
"""Twelve values, of which the first two are not narrowed; a later one is narrowed more."""


def line(tmp_path: Path, **changed: Any) -> dict[str, str]:
    """Return the line of a changed calibration, by heading."""
    (one,) = read(tmp_path, {**calibration(), **changed}).values()
    return dict(zip(COLUMNS, calibration_table([one]).rows[0], strict=True))


def test_a_calibration_has_one_line_with_all_its_numbers(tmp_path: Path) -> None:
    assert line(tmp_path) == {
        "family": "firmvia",
        "values": "2",
        "points, failed": "41, 3",
        "conditioning rows": "2",
        "space left": "1.2 %",
        "plausible points": "7",
        "implausibility": "12.35, 1.50",
        "not met by any point": "none",
        "inside 90 %": "1 of 1",
        "error": "10.0 %",
        "width": "40.0 %",
        "commit": "01234567",
        "command": "`make calibrate FAMILY=firmvia`",
    }


@pytest.mark.parametrize(
    ("changed", "heading", "text"),
    [
        ({"unmet": ["a", "b"]}, "not met by any point", "a; b"),
        ({"default": {"implausibility": None}}, "implausibility", "failed, 1.50"),
        ({"rows": []}, "inside 90 %", "0 of 0"),
        ({"rows": []}, "error", "-"),
        ({"rows": []}, "width", "-"),
        ({"rows": calibration(high=1.9)["rows"]}, "inside 90 %", "0 of 1"),
        ({"rows": calibration(published=0.0)["rows"]}, "width", "inf %"),
        ({"waves": [{"share": 0.000123}]}, "space left", "0.012 %"),
    ],
)
def test_a_line_shows_unmet_rows_failed_runs_and_missing_predictions(
    tmp_path: Path, changed: dict[str, Any], heading: str, text: str
) -> None:
    assert line(tmp_path, **changed)[heading] == text


def test_rows_that_no_point_meets_are_named_in_both_pages(tmp_path: Path) -> None:
    grim = {**calibration("grim"), "unmet": ["a", "b"]}
    known = read(tmp_path, calibration(), grim, {**calibration("am2"), "unmet": ["c"]})
    page = html([row()], {}, known)
    assert "Rows of grim that no point meets: a; b." in page and "Rows of am2 that no point meets: c." in page
    assert "| a; b |" in markdown([row()], {}, known) and page.count("that no point meets:") == 2


def test_rows_without_a_prediction_are_named_with_their_reasons(tmp_path: Path) -> None:
    grim = {**calibration("grim"), "skipped": {"a": "a day a run", "b": "no score"}}
    known = read(tmp_path, calibration(), grim)
    for page in (markdown([row()], {}, known), html([row()], {}, known)):
        assert "Rows of grim without a prediction: a (a day a run); b (no score)." in page
        assert page.count("without a prediction:") == 1


def test_the_eight_values_that_are_narrowed_most_are_listed_strongest_first(tmp_path: Path) -> None:
    (one,) = read(tmp_path, calibration(ratios=RATIOS)).values()
    assert [cells[0] for cells in value_table(one).rows] == [f"key{at}" for at in range(11, 3, -1)]
    assert narrowing(one) == "firmvia: 10 values narrowed (8 listed), 2 not narrowed"


def test_a_value_is_shown_with_its_range_before_and_its_interval_after(tmp_path: Path) -> None:
    values = {"timer": uncertain(0.5, unit="clocks", choices=[16, 32, 64]), "post": uncertain(0.25)}
    (one,) = read(tmp_path, {**calibration(), "values": values}).values()
    assert value_table(one).rows == (
        ("post", "0 - 2,500 ns", "800", "700", "500 - 900", "0.25"),
        ("timer", "16, 32, 64 clocks", "800", "700", "500 - 900", "0.50"),
    )
    assert narrowing(one) == "firmvia: 2 values narrowed, 0 not narrowed"


def test_values_of_all_families_are_one_table_in_markdown(tmp_path: Path) -> None:
    known = read(tmp_path, calibration(), calibration("grim", ratios={"none": 1.0}), calibration("am2"))
    table = family_table(known.values())
    assert [cells[:2] for cells in table.rows] == [("am2", "key0"), ("firmvia", "key0")]


def test_both_pages_show_calibrations_after_the_comparison(tmp_path: Path) -> None:
    known = read(tmp_path, calibration(ratios=RATIOS))
    for page in (markdown([row()], {}, known), html([row()], {}, known)):
        order = ["held-out error", "Calibrations", "12.35, 1.50", "key11", "Misses", "Families"]
        assert [page.index(text) for text in order] == sorted(page.index(text) for text in order)
        assert "firmvia: 10 values narrowed (8 listed), 2 not narrowed" in page
        assert "make calibrate FAMILY=firmvia" in page and "01234567" in page
    drawn = html([row()], {}, known)
    assert (
        drawn.index("<details><summary>firmvia: 10 values narrowed") < drawn.index("key11") < drawn.index("</details>")
    )


def test_a_page_without_calibrations_has_no_section_of_them() -> None:
    for page in (markdown([row()], {}), html([row()], {})):
        assert "Calibrations" not in page and "Misses" not in page


def test_programs_get_the_calibrations_with_their_values(tmp_path: Path) -> None:
    assert leave(tmp_path / "out", [row()], Console(quiet=True), read(tmp_path, calibration())) == 0
    told = json.loads((tmp_path / "out" / "fidelity.json").read_text(encoding="utf-8"))["calibrations"]["firmvia"]
    assert (told["points"], told["failed"], told["conditioning"], told["left"], told["met"]) == (41, 3, 2, 0.0123, 7)
    assert (told["default"], told["best"], told["unmet"], told["command"]) == (
        *(12.345, 1.5, [], "make calibrate FAMILY=firmvia"),
    )
    assert (told["held_out"], told["inside"]) == (1, 1) and told["width"] == pytest.approx(0.4)
    first, second = told["values"]
    assert (first["name"], first["posterior"], first["ratio"]) == ("key0", [500, 700, 900], 0.25)
    assert (first["low"], first["high"], first["today"], first["why"]) == (0, 2500, 800, "no paper gives it")
    assert second["name"] == "key1" and "rows" not in told
