"""User repository: a layer, a study, a profile, a cluster and a NIC with its RTL, without changes here.

Strategy: the repository is created by the commands of the page, `tb/sanlab/README.md`, in a folder of the test. It is
installed beside sanlab, each from its wheel, and used by entry point; then by SANLAB_PATH. Renamed copies of parts of
this tree must give the same results as the originals, on both simulators.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from pymodels.results import Results, differences, read_results
from pymodels.toml import read_toml
from tb.sanlab.backend import wheel
from tb.tools.paths import ROOT
from tests.junit_schema import cases
from tests.system.installed import Environment, sanlab_wheel
from tests.system.runs import must

PAGE = (ROOT / "tb" / "sanlab" / "README.md").read_text(encoding="utf-8")
MAKE, PROJECT = (
    next(text for kind, text in re.findall(r"```(\w+)\n(.*?)```", PAGE, re.DOTALL) if kind == language and word in text)
    for language, word in (("sh", "mkdir -p mylab"), ("toml", "entry-points.sanlab"))
)


@pytest.fixture(name="repository", scope="module")
def fixture_repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the repository of the page with its package `mylab`."""
    folder = tmp_path_factory.mktemp("repository")
    surroundings = {**os.environ, "SANLAB": str(ROOT), "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    subprocess.run(["bash", "-euc", MAKE], cwd=folder, env=surroundings, check=True)
    (folder / "pyproject.toml").write_text(PROJECT, encoding="utf-8")
    return folder


@pytest.fixture(name="here", scope="module")
def fixture_here(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """Return an environment with the wheels of sanlab and of the repository."""
    folder = tmp_path_factory.mktemp("installed")
    made = Environment(folder)
    project, _ = read_toml(repository / "pyproject.toml")
    package = (path for path in sorted((repository / "mylab").rglob("*")) if path.is_file())
    files = {path.relative_to(repository).as_posix(): path.read_bytes() for path in package}
    made.install(str(sanlab_wheel(folder)), str(folder / wheel(folder, project["project"], files)))
    return made


def results(here: Environment, study: str, *words: str, simulator: str = "verilator") -> Results:
    """Run the command and return its results."""
    ended = here.run("sanlab", "run", f"--sim={simulator}", "--out=out", *words, study)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert (here.user / "out" / "report.html").is_file()
    assert {case.problem for case in cases(here.user / "out" / "results.xml").values()} == {""}
    return read_results(here.user / "out" / "results.json")


def test_a_layer_a_study_a_profile_and_a_cluster_of_another_package(here: Environment, tmp_path: Path) -> None:
    assert "\nours_pingpong " in here.run("sanlab", "studies").stdout
    words = ("ours_pingpong", "--set=repetitions=1")
    one, other = (results(here, *words, simulator=name) for name in ("verilator", "icarus"))
    assert differences(one, other, same_simulator=False) == []
    assert one.metrics == must("echo_pingpong", "verilator", tmp_path, "repetitions=1").metrics
    assert "checks/returned bytes" in cases(here.user / "out" / "results.xml")
    faster = results(here, "ours_pingpong", "--profile=lanai9+p3-800", "--cluster=my_hosts", "--set=repetitions=1")
    assert faster.profile == "lanai9+p3-800"
    assert faster.metrics["one_way_us_0B"] < one.metrics["one_way_us_0B"]


def test_a_nic_with_rtl_of_another_package(here: Environment, tmp_path: Path) -> None:
    given = "repetitions=1 messages=2 largest=16"
    words = ("ring_pingpong", "--profile=ring", f"--set=ring.form=buffers {given}")
    one, other = (results(here, *words, simulator=name) for name in ("verilator", "icarus"))
    assert differences(one, other, same_simulator=False) == []
    copied = must("fifo_pingpong", "icarus", tmp_path, f"fifo.form=buffers {given}")
    assert (one.metrics, one.profile) == (copied.metrics, "ring+p2-300")


def test_a_sweep_runs_again_when_the_package_changes(here: Environment) -> None:
    def swept() -> str:
        ended = here.run("sanlab", "sweep", "--sim=verilator", "--axes=repetitions=1,2", "ours_pingpong")
        assert ended.returncode == 0, ended.stdout + ended.stderr
        return ended.stdout

    assert "2 of 2 points, 0 known" in swept()
    assert "2 of 2 points, 2 known" in swept()
    with (here.site / "mylab" / "firmware" / "ours" / "nic" / "layout.py").open("a", encoding="utf-8") as file:
        file.write("# changed\n")
    assert "2 of 2 points, 0 known" in swept()


def test_a_folder_of_the_path_serves_as_well(repository: Path, tmp_path: Path) -> None:
    made = Environment(tmp_path)
    made.install("-e", str(ROOT))
    code = "import sanlab; print(sanlab.run('ours_pingpong', repetitions=1).metrics['one_way_us_64B'])"
    ended = made.run("python", "-c", code, SANLAB_PATH=os.path.relpath(repository / "mylab", made.user))
    assert float(ended.stdout) > 0, ended.stderr
    ended = made.run("sanlab", "run", "ours_pingpong")
    assert (ended.returncode, "unknown study 'ours_pingpong'" in ended.stderr) == (2, True)
