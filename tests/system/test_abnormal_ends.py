"""Abnormal ends of runs: a hang names the waiting tasks, Ctrl-C leaves no process or results.

Strategy: a host waits with a short time-out for a message that is never sent; the report is compared with the waiting
task. A long run gets a signal while it simulates: SIGINT to the whole process group, as from a terminal, or SIGTERM to
itself only, as from another program. The results of the previous run must stay, `results.xml` must report what the
run waited for, and no process may be left.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tb.run import command
from tb.tools.paths import ROOT
from tests.junit_schema import cases
from tests.patience import PATIENCE_S, wait_for
from tests.system.runs import SCENARIOS, must, run


def group_is_empty(group: int) -> bool:
    """Return True if a process group has no process left."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return True
    return False


@contextmanager
def in_terminal(command: list[str]) -> Iterator[subprocess.Popen[str]]:
    """Run a process group that receives SIGINT as under a terminal, even if the tests ignore it."""
    inherited = signal.signal(
        signal.SIGINT, signal.SIG_DFL
    )  # an ignored signal stays ignored in a child, a caught one does not
    try:
        process = subprocess.Popen(command, cwd=ROOT, start_new_session=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8")  # fmt: skip
    finally:
        signal.signal(signal.SIGINT, inherited)
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


@pytest.mark.parametrize("simulator", ["verilator", "icarus"])
def test_a_hang_names_the_waiting_tasks_and_what_they_wait_for(simulator: str, tmp_path: Path) -> None:
    done = run("hang", simulator, tmp_path, "run.hang_us=500")
    assert not done.passed
    said = (tmp_path / "failures.txt").read_text(encoding="utf-8")
    assert "nothing has happened for 0.0005 s of simulated time" in said
    assert "study tests.system.scenarios.hang waits for a word of metz's memory to change" in said
    assert "NIC 0: echo program waits for its polling loop to see something" in said
    assert "allow a longer silence with SET run.hang_us=..." in said
    assert "Last events of node 1 bridge:" in (tmp_path / "stuck.txt").read_text(encoding="utf-8")


def test_after_a_hang_waves_show_the_time_around_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = [f"{SCENARIOS}.hang", "--sim", "icarus", "--set", "run.hang_us=500", "--out", str(tmp_path)]
    assert command.main(words) == 1
    said = capsys.readouterr().out
    assert "report of waits and last events of each unit: " in said
    assert "running again for waves from 0.000 to " in said
    assert (tmp_path / "stuck" / "stuck.json").read_text(encoding="utf-8") == (tmp_path / "stuck.json").read_text(
        encoding="utf-8"
    )
    assert (tmp_path / "stuck" / "waves.fst").stat().st_size > 0
    assert not (tmp_path / "waves.fst").exists()
    must("echo_pingpong", "icarus", tmp_path, "repetitions=1")
    assert not (tmp_path / "stuck").exists()


def test_software_that_polls_for_ever_is_a_hang(tmp_path: Path) -> None:
    done = run("hang", "icarus", tmp_path, "run.hang_us=5000 look_us=2")
    assert not done.passed
    said = (tmp_path / "failures.txt").read_text(encoding="utf-8")
    assert (
        "nothing has happened for 0.005 s of simulated time: study tests.system.scenarios.hang waits for the next look"
        in said
    )


def test_polling_a_constant_word_of_a_card_is_a_hang(tmp_path: Path) -> None:
    assert not run("hang", "verilator", tmp_path, "run.hang_us=500 polls=1").passed
    said = (tmp_path / "failures.txt").read_text(encoding="utf-8")
    assert "study tests.system.scenarios.hang waits for the word at 0xe0000000, which it polls" in said


@pytest.mark.parametrize(
    ("simulator", "end"),
    [("verilator", signal.SIGINT), ("icarus", signal.SIGINT), ("verilator", signal.SIGTERM)],
)
def test_interrupted_run_leaves_no_results_of_its_own_and_no_process(simulator: str, end: int, tmp_path: Path) -> None:
    must("echo_pingpong", simulator, tmp_path, "repetitions=1")  # build, and results that must stay
    command = [sys.executable, "-m", "tb.run", "echo_pingpong", "--sim", simulator, "--set", "repetitions=100000"]
    old = (tmp_path / "results.json").read_bytes()

    def begun() -> bool:
        return any(
            "had not ended at" in file.read_text(encoding="utf-8") for file in tmp_path.glob(".run-*/results.xml")
        )

    with in_terminal([*command, "--out", str(tmp_path)]) as process:
        wait_for(begun, "the simulation to begin")
        (os.killpg if end == signal.SIGINT else os.kill)(process.pid, end)
        said, _ = process.communicate(timeout=PATIENCE_S)
        wait_for(lambda: group_is_empty(process.pid), "all processes to end")
    assert process.returncode == 130, said
    assert "interrupted; this run left no results" in said
    assert (tmp_path / "results.json").read_bytes() == old
    error = cases(tmp_path / "results.xml")["run"]
    assert (error.problem, error.message.partition(";")[0]) == ("error", "the run was interrupted")
    assert " waits for " in error.message  # not always of the study, which may have been at work
    assert not list(tmp_path.glob(".run-*"))
