"""`results.xml` of a run: each named check, invariant and published value is a test case, however the run ends.

Strategy: a scenario makes checks that pass or fail, then raises, hangs, or kills its simulator. The file is read as by
a CI server, and must not violate the JUnit schema (tests/junit_schema.py, independent of the writer).
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.junit_schema import Read, cases
from tests.system.runs import must, run

SIMULATORS = pytest.mark.parametrize("simulator", ["verilator", "icarus"])
FILE = "results.xml"
WAITS = "study tests.system.scenarios.named_checks waits for a word of paris's memory to change"


def ended(simulator: str, folder: Path, end: str, settings: str = "") -> dict[str, Read]:
    """Run the scenario, which must fail, and return its test cases."""
    done = run("named_checks", simulator, folder, f"end={end} {settings}")
    assert not done.passed
    assert not (folder / "cocotb.xml").exists()
    return cases(folder / FILE)


@SIMULATORS
def test_each_check_and_invariant_of_a_passing_run_is_a_passed_case(simulator: str, tmp_path: Path) -> None:
    done = must("named_checks", simulator, tmp_path)
    found = cases(tmp_path / FILE)
    assert {case.problem for case in found.values()} == {""}
    assert found["checks/returned bytes"].output == "simulated time: 19.170001 us\nevaluations: 3"
    assert found["checks/returned bytes"].classname == "tests.system.scenarios.named_checks.checks"
    assert list(found)[:3] == ["run", "checks/returned bytes", "checks/number of answers"]
    assert {"invariants/crc bad", "invariants/link down", "invariants/left in flight"} <= found.keys()
    assert found["run"].output == f"simulated time: {done.results.sim_time_ns / 1000 + 1e-6:.6f} us"
    assert sum(case.time_s for case in found.values()) == pytest.approx(done.results.wall_s, abs=0.2)
    assert not [name for name in found if name.startswith("published/")]


@SIMULATORS
def test_a_failing_check_is_a_failing_case_with_its_text(simulator: str, tmp_path: Path) -> None:
    found = ended(simulator, tmp_path, "fails")
    failed = found["checks/returned bytes"]
    assert (failed.problem, failed.message) == ("failure", r"message 1 <&\x07> corrupted")
    assert failed.text == "message 1 <&\\x07> corrupted\nmessage 2 <&\\x07> corrupted"
    assert failed.output == "simulated time: 13.830001 us\nevaluations: 3"
    assert [name for name, case in found.items() if case.problem] == ["checks/returned bytes"]
    lines = (tmp_path / "failures.txt").read_text(encoding="utf-8").splitlines()
    assert lines == [f"returned bytes: message {number} <&\x07> corrupted" for number in (1, 2)]


def test_a_name_of_two_checks_ends_the_run_with_both_lines(tmp_path: Path) -> None:
    found = ended("icarus", tmp_path, "twice")
    assert found["run"].problem == "error"
    file = "tests/system/scenarios/named_checks.py"
    said = f"ResultsError: {file}:32: check 'returned bytes': {file}:27 has a check of this name; rename one"
    assert found["run"].message == said


@SIMULATORS
def test_an_exception_is_the_error_of_the_run_and_the_checks_before_remain(simulator: str, tmp_path: Path) -> None:
    found = ended(simulator, tmp_path, "raises")
    assert found["run"].problem == "error"
    assert found["run"].message.startswith("RuntimeError: no more paper (tests/system/scenarios/named_checks.py:")
    assert found["checks/returned bytes"].problem == found["checks/number of answers"].problem == ""
    assert found["invariants/crc bad"].problem == ""


@SIMULATORS
def test_a_hang_is_the_error_of_the_run_with_what_it_waited_for(simulator: str, tmp_path: Path) -> None:
    found = ended(simulator, tmp_path, "hangs", "run.hang_us=500")
    assert found["run"].problem == "error"
    assert "nothing has happened for 0.0005 s of simulated time" in found["run"].message
    assert WAITS in found["run"].text
    assert found["checks/returned bytes"].problem == ""


@SIMULATORS
def test_a_killed_simulator_leaves_the_checks_and_what_the_run_waited_for(simulator: str, tmp_path: Path) -> None:
    found = ended(simulator, tmp_path, "killed")
    assert found["run"].problem == "error"
    assert "the simulation ended before its test (killed by SIGKILL" in found["run"].message
    assert WAITS in found["run"].message
    assert found["checks/returned bytes"].output.endswith("evaluations: 3")


def test_requested_published_values_are_cases_and_fail_the_run_outside_their_agreement(tmp_path: Path) -> None:
    must("basic_costs", "verilator", tmp_path / "agrees", "run.published=1", profile="lanai4")
    found = {name for name, case in cases(tmp_path / "agrees" / FILE).items() if not case.problem}
    start = {f"published/DMA start-up, {way}, Myrinet-Linux" for way in ("host to NIC", "NIC to host")}
    assert start < {name for name in found if name.startswith("published/")}
    done = run("basic_costs", "verilator", tmp_path / "slow", "run.published=1 dma.start_clocks=68", profile="lanai4")
    slow = {name: case for name, case in cases(tmp_path / "slow" / FILE).items() if case.problem}
    assert slow.keys() == start
    failed = slow["published/DMA start-up, NIC to host, Myrinet-Linux"]
    assert failed.problem == "failure" and failed.output.endswith("paper 001, Table 2.1")
    said = r"measured 2\.\d+, published 1.47 us \(paper 001, Table 2.1\); required: within 2%"
    assert re.fullmatch(said, failed.text)
    assert not done.passed and any(f"{failed.name}: {failed.text}" in line for line in done.failures)
