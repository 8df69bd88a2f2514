"""On several workers the longest modules begin first, and slow tests can be left out.

Strategy: made-up tests of known durations are dealt; the file of durations is compared with the tests that there are.
"""

from __future__ import annotations

import ast
import json
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


def test_each_worker_begins_with_a_long_module_and_modules_stay_together() -> None:
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


def test_cases_of_a_test_count_once() -> None:
    names = [*(f"tests/unit/test_a.py::x[{i}]" for i in range(9)), "tests/unit/test_b.py::x"]
    known = {"tests/unit/test_a.py::x": 2.0, "tests/unit/test_b.py::x": 3.0}
    assert next(function_of(item) for item in dealt(made(*names), known, 1)) == "tests/unit/test_b.py::x"


def test_the_durations_are_of_tests_that_there_are() -> None:
    known = json.loads(DURATIONS.read_text(encoding="utf-8"))
    for name, seconds in known.items():
        path, _, function = name.partition("::")
        tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
        assert function in {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}, name
        assert seconds >= SLOW_S, name


def test_durations_come_from_the_results_of_pytest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    results = tmp_path / "results.xml"
    cases = [
        ("unit.test_a", "x[1]", 0.7),
        ("unit.test_a", "x[2]", 0.5),
        ("unit.test_a", "y", 0.9),
        ("system.test_b", "z", 8),
    ]
    lines = [f'<testcase classname="tests.{module}" name="{name}" time="{time}"/>' for module, name, time in cases]
    results.write_text(f"<testsuites><testsuite>{''.join(lines)}</testsuite></testsuites>", encoding="utf-8")
    monkeypatch.setattr(durations, "DURATIONS", tmp_path / "durations.json")
    durations.main([str(results)])
    known = json.loads((tmp_path / "durations.json").read_text(encoding="utf-8"))
    assert known == {"tests/system/test_b.py::z": 8.0, "tests/unit/test_a.py::x": 1.2}
    assert [line.split() for line in capsys.readouterr().out.splitlines()] == [["system", "8", "s"], ["unit", "2", "s"]]
