"""Cluster tests that end badly: each leaves a complete results.xml that says which test, and what it waited for.

Strategy: small test files are written and run; results.xml and the failure are compared.
"""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from tb.cocotb_test.run import run
from tb.run.simulate import Outcome
from tb.stuck.report import TEXT
from tb.tools.paths import SIMULATORS

HEAD = """import os, signal
import cocotb
from cocotb.triggers import Event, Timer
from tb.sanlab.cocotb import start


@cocotb.test()
async def ends(dut):
    cluster = await start(dut, layer="echo", {settings})
    near, far = cluster.hosts
"""


def outcome_of(body: str, simulator: str, folder: Path, settings: str = "") -> tuple[Outcome, ET.Element]:
    """Run a test with these lines and return its outcome and its case in results.xml."""
    file = folder / "test_ends.py"
    file.write_text(HEAD.format(settings=settings) + "".join(f"    {line}\n" for line in body.splitlines()), "utf-8")
    outcome = run(file, "ends", simulator, out=folder / "out")
    cases = ET.parse(folder / "out" / "results.xml").getroot().find("testsuite")
    assert cases is not None
    assert cases.get("name") == "ends"
    return outcome, next(cases.iter("testcase"))


@pytest.mark.parametrize("simulator", SIMULATORS)
def test_a_test_that_never_ends_reports_its_waits(simulator: str, tmp_path: Path) -> None:
    body = "await near.library.start()\ncocotb.start_soon(far.library.receive())\nawait Event().wait()"
    outcome, case = outcome_of(body, simulator, tmp_path)
    assert not outcome.passed
    error = case.find("error")
    assert error is not None
    assert error.get("type") == "HangError"
    for waits in (
        "nothing has happened for 0.02 s",
        f"cocotb task 'Test ends' ({tmp_path}/test_ends.py:13) waits for <<Event>.wait()>",
        "waits for metz.library.receive",
    ):
        assert waits in outcome.failures[0] and waits in (error.text or "")
    assert "waits for a word of metz's memory to change" in (tmp_path / "out" / TEXT).read_text("utf-8")


def test_a_test_that_loops_without_time_is_ended(tmp_path: Path) -> None:
    outcome, case = outcome_of("while True:\n    pass", "verilator", tmp_path, "settings={'run.turn_s': 1}")
    assert "Python has run for 1 s without simulated time" in outcome.failures[0]
    assert case.find("error") is not None


@pytest.mark.parametrize("simulator", SIMULATORS)
def test_a_killed_simulator_leaves_the_waits_of_its_test(simulator: str, tmp_path: Path) -> None:
    body = "await Timer(3, 'us')\nos.kill(os.getpid(), signal.SIGKILL)"
    outcome, case = outcome_of(body, simulator, tmp_path)
    error = case.find("error")
    assert error is not None
    assert error.get("type") == "SimulatorError"
    for text in ("killed by SIGKILL", "the run had not ended at", "cocotb task 'Test "):
        assert text in outcome.failures[0]


def test_an_exception_of_the_firmware_fails_the_test(tmp_path: Path) -> None:
    body = """async def firmware():
    await cluster.kernel.sleep(1_000_000)
    raise ZeroDivisionError("in firmware")
await cluster.call(lambda: [cluster.kernel.spawn(firmware(), "wrong")])
await Timer(1, "ms")"""
    outcome, case = outcome_of(body, "verilator", tmp_path)
    assert outcome.failures == ["ends: in firmware"]
    error = case.find("error")
    assert error is not None
    assert (error.get("type"), error.get("message")) == ("ZeroDivisionError", "ZeroDivisionError: in firmware")


def test_a_failed_assertion_is_the_failure_of_its_case(tmp_path: Path) -> None:
    outcome, case = outcome_of("assert near.vnn == 7", "verilator", tmp_path)
    assert not outcome.passed
    error = case.find("error")
    assert error is not None
    assert "assert 0 == 7" in (error.text or "")


def test_an_invalid_start_is_the_failure_of_its_case(tmp_path: Path) -> None:
    outcome, _ = outcome_of("pass", "verilator", tmp_path, "settings={'run.hangs_us': 1}")
    assert "unknown key 'run.hangs_us'" in outcome.failures[0]


def test_an_exception_of_a_callback_in_a_turn_fails_the_test(tmp_path: Path) -> None:
    body = """def wrong():
    raise ZeroDivisionError("in a callback")
await cluster.call(lambda: cluster.kernel.at(5_000_000, wrong))
await Timer(1, "ms")"""
    outcome, case = outcome_of(body, "verilator", tmp_path)
    assert outcome.failures == ["ends: in a callback"]
    assert case.find("error[@type='ZeroDivisionError']") is not None


def test_a_broken_invariant_fails_the_test_at_its_end_and_at_end(tmp_path: Path) -> None:
    for body in ("", "await cluster.end()"):
        broken = "cluster.lab.running.hosts[0].wild.append('a rule')\n" + body
        outcome, _ = outcome_of(broken, "verilator", tmp_path)
        assert outcome.failures == ["ends: invariant: a rule"], body
        failures = ET.parse(tmp_path / "out" / "results.xml").iter("failure")
        assert [failure.text for failure in failures] == ["a rule"]
