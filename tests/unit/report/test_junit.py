"""Is `results.xml` valid for CI servers, whatever the texts in it, and after a run that ended early?

Strategy: cases with texts that XML does not permit are written and read back by the reader of tests/junit_schema.py,
which knows the schema independently. Files of unfinished, missing, damaged and completed runs get an error.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tb.report.junit import RUN, SHOWN, UNFINISHED, Case, add_failure, set_error, write_cases
from tests.junit_schema import cases, violations

STUDY = "folder.study"
WAITING = Case(RUN, failures=("the run had not ended: it waits for paper",), error=UNFINISHED)


def test_cases_are_valid_and_read_back_as_written(tmp_path: Path) -> None:
    failed = Case("order", "checks", 1.25, 2_000_001, ("first is <wrong> & \x00\ud800\x7f\ufffe", "second\nline"))
    written = [Case(RUN, wall_s=0.5, sim_ps=7), failed, Case("order", "invariants", note="explained: 1")]
    write_cases(tmp_path / "x.xml", STUDY, written, {"seed": 1, "settings": 'a="b"'})
    found = cases(tmp_path / "x.xml")
    assert list(found) == ["run", "checks/order", "invariants/order"]
    order = found["checks/order"]
    assert (order.problem, order.classname, order.time_s) == ("failure", f"{STUDY}.checks", 1.25)
    assert order.message == r"first is <wrong> & \x00\ud800\x7f\ufffe"
    assert order.text == f"{order.message}\nsecond\nline"
    assert order.output == "simulated time: 2.000001 us"
    assert found["invariants/order"].output.endswith("\nexplained: 1")
    assert 'time="1.750"' in (tmp_path / "x.xml").read_text(encoding="utf-8")


def test_the_schema_of_the_tests_finds_what_is_invalid(tmp_path: Path) -> None:
    file = tmp_path / "x.xml"
    case = '<testcase name="a" sim="1"><properties/></testcase>'
    file.write_text(f'<testsuite name="s" tests="2" failures="0" time="x">{case}</testsuite>', encoding="utf-8")
    assert set(violations(file)) == {
        "testsuite: no errors",
        "testcase: attribute sim",
        "testcase: child properties",
        "suite s: tests=2",
        "suite s: time=x",
    }


def test_a_check_with_many_failures_lists_the_first_ones(tmp_path: Path) -> None:
    lines = tuple(f"message {number}" for number in range(SHOWN + 5))
    write_cases(tmp_path / "x.xml", STUDY, [Case("order", "checks", failures=lines)])
    text = cases(tmp_path / "x.xml")["checks/order"].text.splitlines()
    assert text == [*lines[:SHOWN], "and 5 more"]


def test_an_unfinished_run_gets_its_end_before_what_it_waited_for(tmp_path: Path) -> None:
    file = tmp_path / "x.xml"
    write_cases(file, STUDY, [WAITING, Case("order", "checks")])
    set_error(file, STUDY, "SimulatorError", "killed")
    found = cases(file)
    assert found["run"].message == found["run"].text == "killed; the run had not ended: it waits for paper"
    assert found["checks/order"].problem == ""


@pytest.mark.parametrize("content", [None, "", "<testsuites><testsuite name='x'", "<testsuites/>"])
def test_a_missing_or_damaged_file_is_replaced(content: str | None, tmp_path: Path) -> None:
    file = tmp_path / "x.xml"
    if content is not None:
        file.write_text(content, encoding="utf-8")
    set_error(file, STUDY, "SimulatorError", "killed")
    assert cases(file)["run"].message == "killed"


def test_a_failure_is_reported_once_and_an_end_after_passed_cases_too(tmp_path: Path) -> None:
    file = tmp_path / "x.xml"
    write_cases(file, STUDY, [Case(RUN), Case("order", "checks", failures=("wrong",))])
    set_error(file, STUDY, "SimulatorError", "study: order: wrong")
    assert cases(file)["run"].problem == ""
    write_cases(file, STUDY, [Case(RUN), Case("order", "checks")])
    set_error(file, STUDY, "SimulatorError", "killed at its end")
    assert cases(file)["run"].message == "killed at its end"


def test_a_further_failure_is_a_case_of_its_own(tmp_path: Path) -> None:
    file = tmp_path / "x.xml"
    add_failure(file, "waves", "no space")
    assert not file.exists()
    write_cases(file, STUDY, [Case(RUN)])
    add_failure(file, "waves", "no space")
    assert cases(file)["waves"].message == "no space"


def test_a_name_with_quotes_is_found_again(tmp_path: Path) -> None:
    file = tmp_path / "x.xml"
    study = 'it\'s "the" <study>'
    write_cases(file, study, [WAITING])
    set_error(file, study, "SimulatorError", "killed")
    assert cases(file)["run"].message.startswith("killed; ")
