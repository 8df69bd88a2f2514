"""The page of published and measured values has each published value, and what the runs measured.

Strategy: the committed page is read as a table and compared with `pymodels/published.toml`: a value that is added,
changed or removed without a new page fails. The measured column is tried on made-up runs, among them one of another
profile, one of another study and one that did not measure the value.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from pymodels.published import Published, load_published
from pymodels.results import Kind, Results
from tb.figures.fidelity import PAGE, first_look, measurement, page, typed
from tb.figures.jobs import Job, jobs
from tb.report.tables import number
from tests.unit.madeup import results

VALUE = Published("Latency", "paper 9, Table 1", 2.0, "us", Kind.PREDICTED, "echo_pingpong", "x", "lanai9+p3-450")


def rows(text: str) -> list[list[str]]:
    """The cells of every row of every table of a page, without headings and rules."""
    lines = [line for line in text.splitlines() if line.startswith("| ") and not line.startswith("| value |")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def ran(
    tmp_path: Path, metrics: Mapping[str, float], study: str = "echo_pingpong", sim: str = "lanai9+p3-450"
) -> tuple[Job, Results]:
    """A run of a study, and what it measured."""
    job = jobs([study], (), True, "icarus", tmp_path)[0]
    return job, replace(results(dict(metrics)), study=study, profile=sim)


def test_committed_page_has_every_published_value() -> None:
    expected = sorted((v.name, v.kind.value, f"{number(v.value)} {v.unit}", first_look(v)) for v in load_published())
    assert sorted(tuple(row[:4]) for row in rows(PAGE.read_text(encoding="utf-8"))) == expected


def test_committed_page_measures_all_but_quoted_values() -> None:
    for row in rows(PAGE.read_text(encoding="utf-8")):
        assert (row[4] == "-") == (row[1] == "quoted"), row


@pytest.mark.parametrize(
    ("first", "recovered", "shown"),
    [
        (1.5, False, "1.500"),
        (1.5, True, "1.500 (recovered)"),
        ("not recorded: old", False, "not recorded: old"),
        (None, False, ""),
    ],
)
def test_first_value_stands_beside_the_one_of_now(
    tmp_path: Path, first: float | str | None, recovered: bool, shown: str
) -> None:
    (row,) = rows(page([replace(VALUE, first=first, recovered=recovered)], [ran(tmp_path, {"x": 3.0})]))
    assert row[3:5] == [shown, "3"]


def test_row_has_what_the_run_measured_and_the_command(tmp_path: Path) -> None:
    (row,) = rows(page([VALUE], [ran(tmp_path, {"x": 3.0})]))
    assert row[2:] == ["2 us", "", "3", "1.500", f"`{typed(ran(tmp_path, {})[0])}`"]


@pytest.mark.parametrize(
    ("value", "within", "shown"), [(2.0, 0.5, "1.500"), (2.0, 0.4, "1.500, outside"), (0.0, [0, 2], "outside")]
)
def test_a_value_outside_the_agreement_asked_for_is_marked(
    tmp_path: Path, value: float, within: float | list[float], shown: str
) -> None:
    (row,) = rows(page([replace(VALUE, value=value, within=within)], [ran(tmp_path, {"x": 3.0})]))
    assert row[5] == shown


def test_sources_that_return_stay_one_table() -> None:
    other = replace(VALUE, source="paper 8")
    assert page([VALUE, other, VALUE], []).count("## Paper 9, Table 1") == 1


@pytest.mark.parametrize(
    ("study", "profile", "metrics"),
    [
        ("grim_pingpong", "lanai9+p3-450", {"x": 3.0}),
        ("echo_pingpong", "lanai4+p2-300", {"x": 3.0}),
        ("echo_pingpong", "lanai9+p3-450", {"y": 3.0}),
    ],
)
def test_run_that_did_not_measure_the_value_is_passed_over(
    tmp_path: Path, study: str, profile: str, metrics: dict[str, float]
) -> None:
    wrong, right = ran(tmp_path, metrics, study, profile), ran(tmp_path, {"x": 4.0})
    assert measurement(VALUE, [wrong]) is None
    assert measurement(VALUE, [wrong, right]) == (right[0], 4.0)


def test_quoted_value_is_never_measured(tmp_path: Path) -> None:
    assert measurement(replace(VALUE, kind=Kind.QUOTED), [ran(tmp_path, {"x": 4.0})]) is None


def test_command_names_profile_and_settings(tmp_path: Path) -> None:
    (job,) = (job for job in jobs(["grim_policing"], (), False, "icarus", tmp_path) if job.name.endswith("lanai4"))
    assert typed(job) == 'make run STUDY=grim_policing PROFILE=lanai4 SET="limits=3 burst=10000"'
