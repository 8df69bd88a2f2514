"""`make run` as a person meets it: what is refused is said on stderr in one line, and no old result is taken for new.

Strategy: the command is called in this process. Wrong words must end with exit code 2, an empty stdout and one whole
line on stderr, however long. Building and simulating are replaced by functions that note what they find: they work in
an empty folder, an earlier run's files stay until the run has ended, and files of others for ever.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from rich.console import Console

from pymodels.errors import ConfigError
from pymodels.results import ResultsError
from pymodels.trace import RECORD
from tb.build.build import Build
from tb.lab.outcome import leave_behind
from tb.plan import studies
from tb.plan.request import Request, plan, resolve
from tb.report.terminal import complain
from tb.run import command as run
from tb.run import simulate as simulator
from tb.run.simulate import Outcome
from tb.tools.paths import ROOT
from tb.tools.programs import ToolError
from tests.unit.report.madeup_trace import LEGEND_OF_TWO


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "STUDY: no study given: the command works on one study; give one, such as STUDY=grim_pingpong"),
        (["grim_pingpon"], "STUDY: unknown study 'grim_pingpon': STUDY names a file of tb/studies; did you mean"),
        (["grim_pingpong", "--sim=verilater"], "SIM: unknown simulator 'verilater': SIM names the simulator;"),
        (["grim_pingpong", "--seed=one"], "SEED: not a number: SEED is 'one'; give a whole number"),
        (["grim_pingpong", "--seed=--1"], "SEED: not a number: SEED is '--1'; give a whole number"),
        (
            ["grim_pingpong", "--set=grim.host_queue_bytes=300"],
            "option host_queue_bytes: 300 bytes have no room for",
        ),
        (["grim_pingpong", "--set=grim.sram_bytes=65536 grim.channels=8"], "option channels=8: 65536 bytes of SRAM"),
        (["grim_pingpong", "--set=grim.sram_bytes=65536", "--set=grim.channels=8"], "option channels=8: 65536 bytes"),
        (
            ["grim_pingpong", "--set=cable.metres=9.7"],
            "the cable between paris and s0 is too long: 9.7 m: 26 characters",
        ),
        (["grim_pingpong", "--profile=sp"], "PROFILE: layer 'grim/nic' has no firmware for profile 'sp+p3-450'"),
        (["echo_pingpong", "--profile=sp"], "whose NIC it supports, PROFILE=lanai4 or lanai4-now or lanai9"),
        (["card_message", "--profile=sp-future"], "whose NIC it supports, PROFILE=lanai4 or lanai4-now or lanai9"),
        (["grim_pingpong", f"--set={'x' * 300}=1"], f"unknown key '{'x' * 300}'"),
    ],
)
def test_invalid_input_is_rejected_in_one_line_on_stderr(
    capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    assert run.main(words) == 2
    ended = capsys.readouterr()
    assert ended.out == ""
    assert said in ended.err
    assert ended.err.count("\n") == 1


def test_a_complaint_is_printed_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    text = "[red]:smile: " + "word " * 200 + "end"
    complain(text)
    assert capsys.readouterr().err == f"{text}\n"


class Runs:
    """Runs in one folder whose simulator writes the prescribed files, or raises."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder, self.seen = folder, [""]
        self._files: dict[str, str] = {}
        self._error: BaseException | None = None
        monkeypatch.setattr(run, "build", lambda *_: Build("verilator", folder, "top", cached=True))
        monkeypatch.setattr(run, "simulate", self._simulate)

    def _simulate(self, _: Build, __: str, work: Path, *___: object, **____: object) -> Outcome:
        self.seen = sorted(path.name for path in self.folder.iterdir() if path != work)
        if self._error is not None:
            raise self._error
        for name, text in self._files.items():
            (work / name).parent.mkdir(exist_ok=True)
            (work / name).write_text(text, encoding="utf-8")
        return Outcome(True, 1, [], work / "sim.log")

    def run(self, files: dict[str, str], error: BaseException | None = None) -> Outcome:
        """Run the study once."""
        self._files, self._error = files, error
        request = resolve("grim_pingpong", "verilator", "1", False, "", "", "", ("verilator",))
        asked = type(request)(**{**request.__dict__, "folder": str(self.folder)})
        info = studies.load("grim_pingpong")
        return run.execute(asked, info, plan(asked, info), Console(quiet=True))

    def names(self) -> set[str]:
        """Return the files in the folder except manifest and request."""
        files = (path for path in self.folder.rglob("*") if path.is_file())
        return {str(path.relative_to(self.folder)) for path in files} - {"manifest.json", "request.json"}


def test_a_completed_run_replaces_the_files_of_the_last_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = Runs(tmp_path / "out", monkeypatch)
    first = {"results.json": "1", "waves.fst": "1", "stuck/waves.fst": "1", "program-0.txt": "1"}
    assert runs.run(first).log == tmp_path / "out" / "sim.log"
    (tmp_path / "out" / "notes.txt").write_text("mine", encoding="utf-8")
    assert runs.names() == {*first, "notes.txt", "results.xml"}
    runs.run({"results.json": "2", "trace.npy": "2"})
    assert {"results.json", "waves.fst", "notes.txt"} <= set(runs.seen)
    assert runs.names() == {"results.json", "trace.npy", "notes.txt", "results.xml"}
    assert (tmp_path / "out" / "results.json").read_text(encoding="utf-8") == "2"
    assert Request.load(tmp_path / "out" / "request.json").folder == str(tmp_path / "out")


def error_of(folder: Path) -> tuple[str | None, str | None]:
    """Return type and message of the error of the run in `results.xml`."""
    error = ET.parse(folder / "results.xml").getroot().find("testsuite/testcase[@name='run']/error")
    assert error is not None
    return error.get("type"), error.get("message")


def test_an_interrupted_run_replaces_results_xml_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = Runs(tmp_path / "out", monkeypatch)
    for files in ({"results.xml"}, {"results.xml", "results.json"}):
        with pytest.raises(KeyboardInterrupt):
            runs.run({}, KeyboardInterrupt())
        assert runs.names() == files
        said = "the run was interrupted; the run had not reached the study"
        assert error_of(tmp_path / "out") == ("KeyboardInterrupt", said)
        runs.run({"results.json": "1"})


@pytest.mark.parametrize("error", [ToolError("no build", "a cause", "a remedy"), OSError(28, "No space left")])
def test_a_run_that_fails_without_results_removes_those_of_the_last_one(
    error: Exception, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = Runs(tmp_path / "out", monkeypatch)
    runs.run({"results.json": "1", "trace.npy": "1"})
    with pytest.raises(type(error)):
        runs.run({}, error)
    assert runs.names() == {"failures.txt", "results.xml"}
    assert error_of(tmp_path / "out") == (type(error).__name__, f"{error}; the run had not reached the study")
    assert (tmp_path / "out" / "failures.txt").read_text(encoding="utf-8") == f"{error}\n"


@pytest.mark.parametrize("name", ["results.json", "waves.fst", "program-x.txt", "stuck/notes.txt", "manifest.json"])
def test_a_folder_with_a_foreign_file_in_the_way_is_rejected(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = Runs(tmp_path, monkeypatch)
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text("{}", encoding="utf-8")
    with pytest.raises(ConfigError, match=f"'{name.partition('/')[0]}' is in the way.*name another folder"):
        runs.run({"results.json": "1"})
    assert (tmp_path / name).read_text(encoding="utf-8") == "{}"
    assert runs.names() <= {name}


def test_waves_of_an_earlier_run_are_removed_before_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("waves.fst", "waves.fst.hier", "results.xml"):
        (tmp_path / name).write_text("old", encoding="utf-8")
    monkeypatch.setattr(simulator, "_command", lambda *_: ["ls"])
    outcome = simulator.simulate(Build("icarus", tmp_path, "top", cached=True), "no_module", tmp_path)
    assert outcome.log.read_text(encoding="utf-8").split() == ["sim.log"]
    assert not outcome.passed
    assert outcome.failures == [f"the simulation ended before its test (exit code 0); see {outcome.log}"]


@pytest.mark.parametrize("said", ["", "{file}: No space left on device; removed\n"])
def test_requested_waves_that_are_missing_fail_the_run(said: str, tmp_path: Path) -> None:
    file = tmp_path / "waves.fst"
    asked = resolve("grim_pingpong", "verilator", "1", True, "", "", "", ("verilator",))
    (tmp_path / "sim.log").write_text(f"before\n{said.format(file=file)}after\n", encoding="utf-8")
    told = said.format(file=file).strip() or f"{file} was not written; see sim.log"
    assert run.lost_waves(asked, tmp_path) == [told]
    file.write_text("waves", encoding="utf-8")
    assert run.lost_waves(asked, tmp_path) == []


def test_a_folder_that_is_not_writable_is_reported_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    assert run.main(["echo_pingpong", "--out", str(tmp_path / "file" / "out")]) == 1
    said = capsys.readouterr().err
    assert (
        said
        == f"run failed: {tmp_path / 'file' / 'out'}: Not a directory; free some space or correct the permissions\n"
    )


def test_a_truncated_result_of_the_simulator_is_a_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = '<testsuites><testsuite><testcase name="study"/></testsuite></testsuites>'
    monkeypatch.setattr(simulator, "_command", lambda *_: ["sh", "-c", f"printf '{whole[:40]}' >results.xml"])
    outcome = simulator.simulate(Build("icarus", tmp_path, "top", cached=True), "no_module", tmp_path)
    assert not outcome.passed
    assert outcome.failures[0].startswith("the simulation ended before its test")


def test_without_its_trace_a_run_has_no_results(tmp_path: Path) -> None:
    (tmp_path / "trace.npy").mkdir()
    lab: Any = SimpleNamespace(trace=lambda: np.zeros(1, RECORD), legend=lambda: LEGEND_OF_TWO)
    with pytest.raises(ResultsError, match="trace not written"):
        leave_behind(tmp_path, studies.load("echo_pingpong"), lab, 1.0, "Verilator 5.048")
    assert not (tmp_path / "results.json").exists()


def test_asserts_are_rewritten_in_modules_of_tests_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(simulator.REWRITE, raising=False)
    monkeypatch.setattr(simulator, "_command", lambda *_: ["env"])
    said = []
    for module in ("tb.run.entry", "tests.block.test_fifo"):
        outcome = simulator.simulate(Build("icarus", tmp_path, "top", cached=True), module, tmp_path)
        said += [
            line for line in outcome.log.read_text(encoding="utf-8").splitlines() if line.startswith(simulator.REWRITE)
        ]
    assert said == [f"{simulator.REWRITE}={which}" for which in ("", simulator.TESTS)]


def test_only_tests_have_pytest_in_the_simulator(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(simulator.USERS, raising=False)
    monkeypatch.setattr(simulator, "_command", lambda *_: ["env"])
    said = []
    for module in ("tb.run.entry", "tests.block.test_fifo"):
        outcome = simulator.simulate(Build("icarus", tmp_path, "top", cached=True), module, tmp_path)
        said.append(
            [line for line in outcome.log.read_text(encoding="utf-8").splitlines() if line.startswith(simulator.USERS)]
        )
    assert said == [[f"{simulator.USERS}=tb.run.begin:begin"], []]


def test_cocotb_starts_without_pytest_and_later_imports_get_it(tmp_path: Path) -> None:
    code = """
import os, sys
from tb.run import begin
os.environ["PYGPI_USERS"] = "tb.run.begin:begin"
import pygpi.entry
def load_entry():
    assert "PYGPI_USERS" not in os.environ
    assert not [name for name in sys.modules if name.startswith(("pytest", "_pytest"))]
    import cocotb.regression
    assert issubclass(cocotb.regression.pytest.skip.Exception, BaseException), "of a run that failed"
    import pytest
    assert pytest.raises(ValueError)
    print("begun")
pygpi.entry.load_entry = load_entry
begin.begin()
"""
    assert subprocess.check_output([sys.executable, "-c", code], encoding="utf-8", cwd=ROOT) == "begun\n"
