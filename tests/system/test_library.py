"""`sanlab.run` from a script: runs in a user's folder, two at a time, failures, and interrupts.

Strategy: everything runs in a folder of the test that has unrelated folders `tb` and `firmware`. The echo layer on two
hosts is the smallest run; its build is shared with all other tests.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tb import sanlab
from tb.tools.paths import ROOT
from tests.patience import PATIENCE_S, wait_for

INTERRUPTED = """
import signal
import tb.sanlab as sanlab
signal.signal(signal.SIGINT, signal.default_int_handler)  # also where it is ignored, as in a job in the background
try:
    sanlab.run("echo_pingpong", repetitions=100_000, out={out!r})
except KeyboardInterrupt:
    print("interrupted")
"""


@pytest.fixture(autouse=True)
def fixture_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Set the working directory of a user."""
    for name in ("tb", "firmware"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("raise SystemExit('not sanlab')", encoding="utf-8")
    monkeypatch.chdir(tmp_path)


def test_two_runs_at_once_have_folders_of_their_own_and_one_result(tmp_path: Path) -> None:
    with ThreadPoolExecutor(2) as pool:
        one, other = pool.map(lambda seed: sanlab.run("echo_pingpong", repetitions=1, seed=seed), (3, 3))
    assert {one.folder, other.folder} == {tmp_path / "sim_build" / "runs" / f"echo_pingpong-{n}" for n in (1, 2)}
    assert one.metrics == other.metrics and one.seed == 3
    assert (one.trace == other.trace).all() and len(one.trace) > 100
    assert "one-way us" in one.text and one.report.is_file()


def test_one_size_of_pingpong_is_that_of_the_whole_curve(tmp_path: Path) -> None:
    alone = sanlab.run("grim_pingpong", size=64, seed=3)
    curve = sanlab.run("grim_pingpong", largest=64, seed=3)
    assert alone.series["one_way"].x.tolist() == [64]
    assert alone.metrics["one_way_us_64B"] == pytest.approx(curve.metrics["one_way_us_64B"], rel=0.02)


def test_a_failed_run_raises_the_message_of_the_command_and_keeps_its_results() -> None:
    with pytest.raises(sanlab.FailedError) as failed:
        sanlab.run("echo_pingpong", {"fault.loss": 1.0, "run.hang_us": 1000, "run.stuck_waves": 0})
    assert "HangError: nothing has happened for 0.001 s" in str(failed.value)
    assert sanlab.load(failed.value.folder).study == "echo_pingpong"


def test_an_interrupt_ends_the_child_and_the_simulator(tmp_path: Path) -> None:
    out = tmp_path / "out"
    script = [sys.executable, "-c", INTERRUPTED.format(out=str(out))]

    def begun() -> bool:
        return any("study" in log.read_text(encoding="utf-8") for log in out.glob(".run-*/sim.log"))

    with subprocess.Popen(script, cwd=ROOT, stdout=subprocess.PIPE, encoding="utf-8") as process:
        try:
            wait_for(begun, "the simulation to begin")
            assert running(out)
            process.send_signal(signal.SIGINT)
            said, _ = process.communicate(timeout=PATIENCE_S)
        finally:
            process.terminate()
    assert said == "interrupted\n"
    wait_for(lambda: not running(out), "the end of the simulator")
    assert not (out / "results.json").exists()


def running(folder: Path) -> list[str]:
    """Return the processes of a run, which have its folder in their environment or arguments."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            told = (process / "cmdline").read_bytes() + (process / "environ").read_bytes()
        except OSError:
            continue
        if int(process.name) != os.getpid() and os.fsencode(folder) in told:
            found.append(process.name)
    return found
