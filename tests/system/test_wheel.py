"""sanlab from its wheel, outside of the checkout, in a user's folder that has its own `tb` and `firmware`.

Strategy: wheel and source distribution are built, and installed by pip without a network (tests/system/installed.py).
Names in the wheel are checked, then the command and the library are used as by a user, including the example of the
page. A run leaves the same files as in the checkout, in the user's folder.
"""

from __future__ import annotations

import importlib
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from pymodels.results import differences, read_results
from tb.plan import studies
from tb.sanlab.backend import ROOT, build_sdist, project
from tests.patience import PATIENCE_S, wait_for
from tests.system.installed import Environment, sanlab_wheel
from tests.system.runs import must


@pytest.fixture(name="wheel", scope="module")
def fixture_wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the wheel of the checkout."""
    return sanlab_wheel(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(name="here", scope="module")
def fixture_here(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """Return an environment with the wheel."""
    made = Environment(tmp_path_factory.mktemp("installed"))
    made.install(str(wheel))
    return made


def test_the_wheel_takes_one_name(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.split("/")[0] for name in names}
    assert tops == {"sanlab", f"sanlab-{project()['version']}.dist-info"}
    assert {"sanlab/__init__.py", "sanlab/_tree/tb/run/command.py", "sanlab/_tree/hdl/sources.f"} <= set(names)
    assert not [name for name in names if "__pycache__" in name or "/tests/" in name or "sim_build" in name]


def test_the_wheel_requires_what_the_checkout_pins() -> None:
    pinned = [
        line.split("#")[0].strip() for line in (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    ]
    wanted = [one.replace("'", '"') for one in project()["dependencies"]]
    assert [one for one in wanted if one not in pinned] == []


@pytest.mark.parametrize("form", ["wheel", "sdist"])
def test_the_package_installs_in_an_empty_environment(form: str, wheel: Path, tmp_path: Path) -> None:
    made = Environment(tmp_path)
    package = wheel if form == "wheel" else tmp_path / build_sdist(str(tmp_path))
    made.install(str(package))
    assert not (made.site / "sanlab" / "_tree" / "tests").exists()
    usage = made.run("sanlab", "--help")
    assert (usage.returncode, usage.stdout.startswith("usage: sanlab")) == (0, True), usage.stderr
    listed = made.run("sanlab", "studies")
    assert (listed.returncode, listed.stdout.startswith(studies.names()[0])) == (0, True), listed.stderr
    code = "from importlib.metadata import version; print(version('sanlab'))"
    assert made.run("python", "-c", code).stdout.strip() == project()["version"]


@pytest.mark.parametrize("simulator", ["verilator", "icarus"])
def test_the_command_runs_outside_of_the_checkout(here: Environment, simulator: str, tmp_path: Path) -> None:
    ended = here.run("sanlab", "run", f"--sim={simulator}", "--set=repetitions=1", "echo_pingpong")
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.rstrip().endswith("report: sim_build/echo_pingpong/report.html")
    left = read_results(here.user / "sim_build" / "echo_pingpong" / "results.json")
    same = must("echo_pingpong", simulator, tmp_path, "repetitions=1").results
    assert differences(left, same) == []


def test_the_example_of_the_page_runs(here: Environment) -> None:
    ended = here.run("python", str(ROOT / "tb" / "sanlab" / "example.py"))
    assert ended.returncode == 0, ended.stderr
    lines = ended.stdout.splitlines()
    assert any(re.fullmatch(r"a message of 64 bytes takes \d\.\d{3} us", line) for line in lines)
    assert lines[-1] == "SET: unknown key 'larges': profile 'lanai9+p3-450' has no such value; did you mean 'largest'?"
    assert (here.user / "sim_build" / "runs" / "grim_pingpong-3" / "results.json").exists()


def test_a_written_cluster_test_runs_outside_of_the_checkout(here: Environment) -> None:
    ended = here.run("sanlab", "new", "test", "mylab/tests/test_mine.py")
    assert (ended.returncode, ended.stdout) == (0, "mylab/tests/test_mine.py\nnext: pytest mylab/tests/test_mine.py\n")
    again = here.run("sanlab", "new", "test", "mylab/tests/test_mine.py")
    assert again.stderr == "mylab/tests/test_mine.py: file exists: a new test would replace it; move it away\n"
    ended = here.run(
        "python",
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "mylab/tests/test_mine.py",
        SIM="icarus",
        PYTEST_ADDOPTS="",
    )
    assert ended.returncode == 0, ended.stdout
    assert ended.stdout.splitlines()[-1].startswith("2 passed")
    left = here.user / "sim_build" / "cluster_tests" / "test_mine" / "icarus" / "a_message_arrives_unchanged"
    assert (left / "results.xml").exists()


def test_commands_that_need_a_checkout_report_that(here: Environment) -> None:
    ended = here.run("sanlab", "sim", "fifo")
    assert ended.returncode == 2
    assert "not a checkout" in ended.stderr and "run `make sim`" in ended.stderr


def test_a_sweep_runs_outside_of_the_checkout(here: Environment) -> None:
    words = ("--sim=verilator", "--axes=repetitions=1,2", "--workers=2", "echo_pingpong")
    ended = here.run("sanlab", "sweep", *words)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "2 of 2 points, 0 known, 0 failed" in ended.stdout
    assert (here.user / "sim_build" / "sweep" / "echo_pingpong" / "points.parquet").exists()


def test_a_worker_of_a_dask_cluster_needs_nothing_but_the_wheel(here: Environment, tmp_path: Path) -> None:
    nobody: dict[str, Any] = {"n_workers": 0, "processes": False, "protocol": "tcp", "dashboard_address": "localhost:0"}
    with importlib.import_module("distributed").LocalCluster(**nobody) as cluster:
        worker = ("-m", "dask", "worker", cluster.scheduler_address, "--nthreads", "1", "--no-nanny", "--no-dashboard")
        with here.running("python", *worker):
            wait_for(lambda: cluster.scheduler.workers, "the worker")
            words = ("echo_pingpong", "--axes=repetitions=1,2", f"--out={tmp_path / 'out'}")
            command = [sys.executable, "-m", "tb.sweep.run", *words, f"--scheduler={cluster.scheduler_address}"]
            env = {**os.environ, "SANLAB_OUT": str(tmp_path)}  # without earlier state
            ended = subprocess.run(
                command, cwd=ROOT, env=env, encoding="utf-8", capture_output=True, check=False, timeout=PATIENCE_S
            )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "2 of 2 points, 0 known, 0 failed" in ended.stdout
    table = pq.read_table(tmp_path / "out" / "points.parquet").to_pydict()
    same = must("echo_pingpong", "verilator", tmp_path / "same", "repetitions=1").metrics
    one_way = {name: value for name, value in same.items() if name in table and not name.startswith("wall_")}
    assert one_way and {name: table[name][0] for name in one_way} == one_way
    assert (here.user / "sim_build" / "sweep").is_dir() and not (here.site / "sanlab" / "_tree" / "sim_build").exists()


def test_an_editable_installation_is_the_checkout(tmp_path: Path) -> None:
    made = Environment(tmp_path)
    made.install("-e", str(ROOT))
    code = "import sanlab, sanlab.tree; print(sanlab.tree.TREE, sanlab.tree.out(), sanlab.run)"
    ended = made.run("python", "-c", code)
    assert ended.stdout.startswith(f"{ROOT} {made.user / 'sim_build'} <function run"), ended.stderr
    assert made.run("sanlab", "studies").stdout.startswith(studies.names()[0])
