"""A checkout, its builds and its results in a folder whose name contains special characters.

Strategy: the tree is copied into such a folder. A block bench runs there on both simulators, and a study on one, as a
user starts them. Verilator's runtime, which every build needs and which contains no path, comes from the builds of this
tree.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tb.build.store import STORE
from tb.run import block_bench
from tb.tools.paths import ROOT
from tests.patience import PATIENCE_S
from tests.tools.test_places import STRANGE

SHARED = ("runtime-*", "header-*", "doorway-*")


@pytest.fixture(name="checkout", scope="module")
def fixture_checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the tree in a folder with a strange name, with builds beside it."""
    assert block_bench.run("crc8", "verilator").passed
    folder = tmp_path_factory.mktemp("places") / STRANGE
    left = shutil.ignore_patterns("sim_build", ".venv", ".git", "__pycache__", ".*_cache")
    shutil.copytree(ROOT, folder / "sanlab", ignore=left)
    (folder / "builds").mkdir()
    for build in (build for pattern in SHARED for build in STORE.glob(pattern)):
        (folder / "builds" / build.name).symlink_to(build)
    return folder / "sanlab"


def ran(checkout: Path, *words: str) -> str:
    """Return the output of a command of the checkout, which must succeed."""
    own = {"SANLAB_BUILDS": str(checkout.parent / "builds"), "SANLAB_OUT": str(checkout.parent / "results")}
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    ended = subprocess.run(
        [sys.executable, "-m", "tb.sanlab", *words],
        cwd=checkout,
        env={**kept, **own},
        encoding="utf-8",
        capture_output=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout[-3000:] + ended.stderr[-3000:]
    return ended.stdout


@pytest.mark.parametrize("simulator", ["verilator", "icarus"])
def test_a_bench_runs_in_a_strange_place(checkout: Path, simulator: str) -> None:
    assert "1 tests, 0 failed" in ran(checkout, "sim", "crc8", f"--sim={simulator}")
    assert (checkout.parent / "results" / "crc8" / simulator / "results.xml").is_file()
    assert list((checkout.parent / "builds").glob(f"{simulator}-myri_crc8-*"))


def test_a_study_runs_in_a_strange_place(checkout: Path) -> None:
    ran(checkout, "run", "echo_pingpong", "--sim=icarus", "--set=repetitions=1")
    assert (checkout.parent / "results" / "echo_pingpong" / "report.html").is_file()
