"""A skipped test is an error in CI, and nowhere else.

Strategy: pytest runs in a process of its own on files with every kind of skip, with and without CI=true.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tb.tools.paths import ROOT

TESTS = """
import pytest
@pytest.mark.skipif(True, reason="clang-16 is not installed")
def test_marked(): ...
def test_called(): pytest.skip("made by another compiler")
@pytest.mark.skipif(True, reason="the kernel gives no namespaces: none")
def test_kept_out(): ...
@pytest.mark.xfail(strict=True)
def test_wrong(): assert False
def test_right(): ...
"""
MODULE = "import pytest\npytest.importorskip('no_such_module')\ndef test_in_it(): ...\n"


def ran(folder: Path, **environment: str) -> tuple[int, str]:
    """Return the exit code of pytest and what it printed."""
    for name in ("conftest.py", "durations.json"):
        shutil.copy(ROOT / "tests" / name, folder)
    (folder / "test_kinds.py").write_text(TESTS, encoding="utf-8")
    (folder / "test_module.py").write_text(MODULE, encoding="utf-8")
    variables = {name: value for name, value in os.environ.items() if name not in ("CI", "PYTEST_ADDOPTS")}
    command = [sys.executable, "-m", "pytest", "-ra", "-p", "no:cacheprovider", "--rootdir", str(folder), str(folder)]
    command += ["--continue-on-collection-errors"]
    done = subprocess.run(
        command,
        cwd=folder,
        env={**variables, **environment},
        encoding="utf-8",
        capture_output=True,
        timeout=600,
        check=False,
    )
    return done.returncode, done.stdout


def test_skips_pass_on_a_users_machine_and_say_why(tmp_path: Path) -> None:
    code, said = ran(tmp_path)
    assert code == 0 and "1 passed, 4 skipped, 1 xfailed" in said
    assert "clang-16 is not installed" in said


def test_skips_fail_in_ci_except_unavoidable_ones(tmp_path: Path) -> None:
    code, said = ran(tmp_path, CI="true")
    assert code == 1 and "1 passed, 1 skipped, 1 xfailed" in said
    failed = [line for line in said.splitlines() if "skipped, which is an error in CI" in line]
    for reason in ("clang-16 is not installed", "made by another compiler", "no_such_module"):
        assert any(reason in line for line in failed), reason
