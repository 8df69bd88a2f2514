"""Influences on a run of the tests are excluded.

Strategy: examples of a property are drawn before and after a module of many constants is imported; properties have no
deadline; no variable of the caller's environment changes the output. With a variable that forbids bytecode, pytest runs
in a process of its own, and bytecode is found among generated files only.
"""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rich.console import Console

from tb.tools.paths import ROOT


def drawn() -> list[int]:
    """Return the examples of a property."""
    found: list[int] = []

    @given(st.integers())
    def seen(number: int) -> None:
        found.append(number)

    seen()
    return found


def test_examples_do_not_depend_on_earlier_imports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = drawn()
    (tmp_path / "many_constants.py").write_text(f"NUMBERS = {[10**9 + 7 * n for n in range(500)]}\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    try:
        __import__("many_constants")
        assert drawn() == before
    finally:
        del sys.modules["many_constants"]


def test_no_example_has_a_deadline() -> None:
    assert settings().deadline is None
    assert HealthCheck.too_slow in settings().suppress_health_check


def test_a_terminal_has_80_columns_and_no_colours() -> None:
    console = Console(file=io.StringIO())
    assert (console.width, console.is_terminal, console.no_color) == (80, False, False)


def test_bytecode_is_kept_outside_the_sources_on_request(tmp_path: Path) -> None:
    folder, out = tmp_path / "tests", tmp_path / "generated"
    folder.mkdir()
    for name in ("conftest.py", "durations.json"):
        shutil.copy(ROOT / "tests" / name, folder)
    (folder / "helper.py").write_text("", encoding="utf-8")
    test = f"""
import subprocess, sys
def test_child():
    assert subprocess.run([sys.executable, "-c", "import helper"], cwd={str(folder)!r}).returncode == 0
"""
    (folder / "test_child.py").write_text(test, encoding="utf-8")
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "SANLAB_OUT": str(out)}
    for name in ("PYTHONPYCACHEPREFIX", "PYTEST_ADDOPTS"):
        environment.pop(name, None)
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--rootdir", str(folder), str(folder)]
    subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=True)
    assert not list(folder.rglob("*.pyc"))
    kept = {path.name.partition(".")[0] for path in (out / "bytecode").rglob("*.pyc")}
    assert kept >= {"test_child", "helper"}
