"""On several workers the longest modules begin first, and slow tests can be left out.

Strategy: made-up tests of known durations are dealt; the file of durations is compared with the tests that there are.
Pytest runs in a process of its own to record the processor seconds of a test, of its fixture and of its child process.
"""

from __future__ import annotations

import ast
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tb.tools.paths import ROOT
from tests import durations
from tests.conftest import DURATIONS, SLOW_S, dealt, function_of


def made(*names: str) -> list[Any]:
    """Return tests of these names."""
    return [SimpleNamespace(nodeid=name) for name in names]


def test_workers_begin_with_long_modules_and_modules_stay_together() -> None:
    names = [
        "tests/unit/test_a.py::x[1]",
        "tests/unit/test_a.py::y",
        "tests/unit/test_b.py::x",
        "tests/unit/test_c.py::x",
    ]
    known = {"tests/unit/test_b.py::x": 9.0, "tests/unit/test_c.py::x": 3.0}
    order = [item.nodeid for item in dealt(made(*names), known, 2)]
    assert order == [names[2], names[0], names[1], names[3]]
    assert sorted(order) == sorted(names)


def test_cases_of_a_test_count_as_one_test() -> None:
    names = [*(f"tests/unit/test_a.py::x[{i}]" for i in range(9)), "tests/unit/test_b.py::x"]
    known = {"tests/unit/test_a.py::x": 2.0, "tests/unit/test_b.py::x": 3.0}
    assert next(function_of(item) for item in dealt(made(*names), known, 1)) == "tests/unit/test_b.py::x"


def test_recorded_durations_belong_to_existing_tests() -> None:
    known = json.loads(DURATIONS.read_text(encoding="utf-8"))
    for name, seconds in known.items():
        path, _, function = name.partition("::")
        tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
        assigned = {
            node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        }
        defined = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
        assert function in defined | assigned, name
        assert seconds >= SLOW_S, name


def test_durations_come_from_the_results_of_pytest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    results = tmp_path / "results.xml"
    cases = [
        ("unit.test_a", "x[1]", 0.7),
        ("unit.test_a", "x[2]", 0.5),
        ("unit.test_a", "y", 0.2),
        ("system.test_b", "z", 8),
    ]
    lines = [f'<testcase classname="tests.{module}" name="{name}" time="{time}"/>' for module, name, time in cases]
    properties = '<properties><property name="processor_s" value="2.5"/></properties>'
    lines.append(f'<testcase classname="tests.unit.test_c" name="waits" time="0.1">{properties}</testcase>')
    results.write_text(f"<testsuites><testsuite>{''.join(lines)}</testsuite></testsuites>", encoding="utf-8")
    monkeypatch.setattr(durations, "DURATIONS", tmp_path / "durations.json")
    durations.main([str(results)])
    known = json.loads((tmp_path / "durations.json").read_text(encoding="utf-8"))
    assert known == {
        "tests/system/test_b.py::z": 8.0,
        "tests/unit/test_a.py::x": 1.2,
        "tests/unit/test_c.py::waits": 2.5,
    }
    assert [line.split() for line in capsys.readouterr().out.splitlines()] == [["system", "8", "s"], ["unit", "4", "s"]]


BURNS = """
import subprocess
import sys
import time
import pytest

def burn():
    end = time.process_time() + 0.3
    while time.process_time() < end: pass

@pytest.fixture
def burnt(): burn()

def test_sleeps(): time.sleep(0.3)
def test_burns(burnt):
    burn()
    subprocess.run([sys.executable, "-c", "import time\\nwhile time.process_time() < 0.3: pass"], check=True)
"""
"""A test of hardly any processor time, and one of 0.3 s in each of its fixture, its body and its child process."""


def test_results_have_the_processor_seconds_of_a_test_its_fixtures_and_its_children(tmp_path: Path) -> None:
    for name in ("conftest.py", "durations.json"):
        shutil.copy(ROOT / "tests" / name, tmp_path)
    (tmp_path / "test_burns.py").write_text(BURNS, encoding="utf-8")
    results = tmp_path / "results.xml"
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--rootdir", str(tmp_path), str(tmp_path)]
    environment = {name: value for name, value in os.environ.items() if name != "PYTEST_ADDOPTS"}
    subprocess.run([*command, f"--junitxml={results}"], cwd=tmp_path, env=environment, capture_output=True, check=True)
    seconds = {name.partition("::")[2]: used for name, used in durations.measured([results]).items()}
    assert seconds["test_sleeps"] < 0.3
    assert seconds["test_burns"] >= 0.9
