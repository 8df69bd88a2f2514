"""The library's own part: what it makes of a folder of results, what its errors say, and how the command finds words.

Strategy: results are written by hand and loaded; pandas is a stub, since it is no requirement. Refusals go through the
real child process, which ends before anything is built; they are compared with what the command prints.
"""

from __future__ import annotations

import fcntl
import json
import os
import pickle
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from pymodels.trace import RECORD, TraceEvent
from tb import sanlab
from tb.sanlab import child, tree
from tb.sanlab.command import COMMANDS
from tb.tools import paths
from tb.tools.paths import ROOT

RESULTS = {
    "study": "grim_pingpong",
    "simulator": "icarus",
    "seed": 3,
    "profile": "lanai9+p3-450",
    "metrics": {"one_way_us_64B": 8.3625, "bytes <&>": 64},
    "series": {"one_way": {"x": [0, 64], "y": [8.0, 8.3625], "x_unit": "B", "y_unit": "us"}},
    "published": [{"name": "P", "published": 8.0, "measured": None, "kind": "quoted"}],
}


@pytest.fixture(name="folder")
def fixture_folder(tmp_path: Path) -> Path:
    """Make a run that has ended."""
    (tmp_path / "results.json").write_text(json.dumps(RESULTS), encoding="utf-8")
    records = [(9, 1, TraceEvent.SEND_RETURN, 0, 7, 64, 0, 1), (5, 1, TraceEvent.SEND_CALL, 0, 7, 64, 0, 1)]
    np.save(tmp_path / "trace.npy", np.array(records, RECORD))
    return tmp_path


def test_metrics_series_and_trace_are_numbers_and_arrays(folder: Path) -> None:
    run = sanlab.load(folder)
    assert (run.study, run.simulator, run.seed, run.metrics["one_way_us_64B"]) == ("grim_pingpong", "icarus", 3, 8.3625)
    one_way = run.series["one_way"]
    assert one_way.x.tolist() == [0, 64] and one_way.y.tolist() == [8.0, 8.3625]
    assert (one_way.x_unit, one_way.y_unit) == ("B", "us")
    assert run.trace["time"].tolist() == [5, 9] and run.trace["argument"].tolist() == [64, 64]


def test_a_notebook_shows_escaped_tables(folder: Path) -> None:
    shown = sanlab.load(folder)._repr_html_()
    assert "<td>one_way_us_64B</td><td>8.3625</td>" in shown
    assert "bytes &lt;&amp;&gt;" in shown and "<td>quoted</td>" in shown
    assert shown.count("<table>") == 2


def test_frames_need_pandas_and_say_so(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = sanlab.load(folder)
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(sanlab.SanlabError, match="pandas is not installed"):
        run.frame()
    monkeypatch.setitem(sys.modules, "pandas", SimpleNamespace(DataFrame=dict))
    assert run.frame() == {"metric": list(run.metrics), "value": list(run.metrics.values())}
    assert list(run.frame("one_way")) == ["x (B)", "one_way (us)"]
    assert run.trace_frame()["event"] == ["SEND_CALL", "SEND_RETURN"]
    with pytest.raises(sanlab.SanlabError, match=r"unknown series 'two_way': not a curve of .*; its curves: one_way"):
        run.frame("two_way")


def test_a_folder_without_results_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(sanlab.SanlabError, match="no results: .*; run the study first"):
        sanlab.load(tmp_path)
    (tmp_path / "results.json").write_text("{", encoding="utf-8")
    with pytest.raises(sanlab.SanlabError, match="results unreadable: .*; run the study again"):
        sanlab.load(tmp_path)


def test_an_error_has_the_text_of_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("tb", "firmware", "pymodels"):  # the user's own
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("raise SystemExit('not sanlab')", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(sanlab.RefusedError) as refused:
        sanlab.run("echo_pingpong", {"switch.fall_through_ns": 300}, repetition=3)
    words = [sys.executable, str(tree.START), "run", "--set=repetition=3", "--", "echo_pingpong"]
    command = subprocess.run(words, encoding="utf-8", capture_output=True, check=False)
    assert str(refused.value) == command.stderr.strip()
    assert "did you mean 'repetitions'?" in command.stderr
    assert refused.value.exit_code == command.returncode == 2
    assert list((tmp_path / "sim_build" / "runs").iterdir()) == []


def test_a_child_that_ignores_termination_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child, "PATIENCE_S", 0.1)
    deaf = ["sh", "-c", "trap '' TERM; echo ready; while :; do read -r line; done"]
    with subprocess.Popen(
        deaf, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8", start_new_session=True
    ) as process:
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
        child._end(process)
        assert process.returncode == -signal.SIGKILL


def test_errors_can_be_pickled() -> None:
    error = pickle.loads(pickle.dumps(sanlab.FailedError("failed: it", 1, "there")))  # noqa: S301 - made here
    assert (type(error), str(error), error.exit_code, error.folder) == (sanlab.FailedError, "failed: it", 1, "there")


def test_queries_return_studies_and_events() -> None:
    echo = sanlab.studies()["echo_pingpong"]
    assert echo["question"].endswith("?")
    assert echo["options"]["repetitions"]["default"] == 5
    assert sanlab.events()["SEND_CALL"] == TraceEvent.SEND_CALL


def test_results_go_to_the_checkout_within_it_and_to_the_working_directory_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(tree.OUT, raising=False)
    for here, out in ((ROOT, ROOT), (ROOT / "tb", ROOT), (tmp_path, tmp_path)):
        monkeypatch.chdir(here)
        assert tree.out() == out / "sim_build"
    monkeypatch.setenv(tree.OUT, "there")
    assert tree.out() == tmp_path / "there"


def test_all_checkouts_of_a_user_share_builds_unless_the_users_cache_is_read_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SANLAB_BUILDS", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert paths.builds() == tmp_path / "cache" / "sanlab" / "builds"
    (tmp_path / "cache").touch()
    assert paths.builds() == paths.OUT / "builds"
    monkeypatch.setenv("XDG_CACHE_HOME", "cache")
    assert paths.builds() == paths.OUT / "builds"
    monkeypatch.setenv("SANLAB_BUILDS", str(tmp_path / "mine"))
    assert paths.builds() == tmp_path / "mine"


@pytest.mark.parametrize("module", ["tb.sanlab", "tb/sanlab/start.py"])
def test_the_command_has_a_subcommand_for_each_make_target(module: str) -> None:
    words = [module] if module.endswith(".py") else ["-m", module]
    shown = subprocess.run(
        [sys.executable, *words, "--help"], cwd=ROOT, encoding="utf-8", capture_output=True, check=True
    )
    assert [line.split()[0] for line in shown.stdout.splitlines() if line.startswith("  ")] == list(COMMANDS)
    made = {line.split(":")[0] for line in (ROOT / "Makefile").read_text(encoding="utf-8").splitlines() if ":" in line}
    assert made >= COMMANDS.keys() - {"costs", "test-cluster"}


def test_a_command_that_measures_runs_once_at_a_time(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "tb.sanlab", "counts", "no_such_workload"]
    surroundings = {**os.environ, "SANLAB_OUT": str(tmp_path)}
    with (tmp_path / ".counts.lock").open("w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        ended = subprocess.run(words, cwd=ROOT, env=surroundings, capture_output=True, encoding="utf-8", check=False)
        assert ended.returncode == 2
        assert ended.stderr.startswith(f"sanlab counts: already running in {tmp_path}; wait for its end")
        words[-1] = "--help"
        ended = subprocess.run(words, cwd=ROOT, env=surroundings, capture_output=True, encoding="utf-8", check=False)
        assert (ended.returncode, ended.stderr) == (0, "")
        words[-1] = "no_such_workload"
    ended = subprocess.run(words, cwd=ROOT, env=surroundings, capture_output=True, encoding="utf-8", check=False)
    assert "unknown workload 'no_such_workload'" in ended.stderr


def test_a_lock_that_cannot_be_written_is_reported_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    words = [sys.executable, "-m", "tb.sanlab", "counts"]
    surroundings = {**os.environ, "SANLAB_OUT": str(tmp_path / "file")}
    ended = subprocess.run(words, cwd=ROOT, env=surroundings, capture_output=True, encoding="utf-8", check=False)
    assert ended.returncode == 2 and ended.stderr.count("\n") == 1
    assert ended.stderr.startswith(f"sanlab counts: {tmp_path / 'file'}: File exists; name a folder")


def test_an_unknown_word_is_rejected_with_the_nearest_one() -> None:
    ended = subprocess.run(
        [sys.executable, str(tree.START), "swep"], encoding="utf-8", capture_output=True, check=False
    )
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr == "sanlab: unknown command 'swep': `sanlab --help` lists them; did you mean 'sweep'?\n"
