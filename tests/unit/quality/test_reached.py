"""Tests that run a mutant: those that reach its statement, the fastest first, each with a time limit.

Strategy: the coverage of a run is written here by hand, and the tests of places in a small text are listed. A real run
of pytest with the plugin must give the same; another one has a test that never ends.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tb.quality.limits import TEST
from tb.quality.reached import CHOSEN, ENDLESS, REACHED, WATCHED, Reached, part_of, read_reached
from tb.tools.paths import ROOT

TEXT = """'''Sums.'''

from __future__ import annotations

LIMIT = 3


def total(a, b):
    if a > LIMIT:
        return (a +
                b)
    return b
"""
SEEN = Reached(
    {"slow": 2.0, "quick": 1.0, "other": 0.5},
    {"firmware/sums.py": {9: ["slow", "quick"], 10: ["slow"], 12: ["quick"]}},
    {"firmware/sums.py": [9, 10, 12]},
)
TESTS = """from firmware.sums import total


def test_over():
    assert total(4, 2) == 6


def test_under():
    assert total(1, 2) == 2


def test_nothing():
    pass
"""


@pytest.mark.parametrize(
    ("words", "tests"),
    [
        ("a > L", ["quick", "slow"]),
        ("return b", ["quick"]),
        ("(a +", ["slow"]),
        ("b)\n    return", ["slow"]),
        ("3", ["quick", "slow", "other"]),
    ],
    ids=["condition", "statement", "first line", "last line", "import"],
)
def test_a_mutant_is_run_by_the_tests_that_reach_its_statement(words: str, tests: list[str]) -> None:
    assert list(SEEN.tests("firmware/sums.py", TEXT, TEXT.index(words))) == tests


def test_a_statement_that_no_test_reaches_has_no_tests() -> None:
    none = Reached({"other": 0.5}, {}, {"firmware/sums.py": [12]})
    assert none.tests("firmware/sums.py", TEXT, TEXT.index("return b")) == {}


@pytest.fixture(name="tree")
def fixture_tree(tmp_path: Path) -> Path:
    for name, text in {
        "firmware/__init__.py": "",
        "firmware/sums.py": f"{TEXT}\n\nSUM = total(1, 1)\n",
        "tests/test_sums.py": TESTS,
        "tests/test_endless.py": "def test_endless():\n    while True:\n        pass\n",
        "pytest.ini": "[pytest]\n",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def run(tree: Path, variables: dict[str, str], file: str) -> subprocess.CompletedProcess[str]:
    """Pytest with the plugin."""
    command = [sys.executable, "-m", "pytest", "-v", "-n0", "-p", "no:cacheprovider", "-p", "tb.quality.reached", file]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_ADDOPTS": "", **variables}
    return subprocess.run(command, cwd=tree, env=environment, capture_output=True, encoding="utf-8", check=False)


def test_a_run_says_which_tests_execute_a_line_and_runs_those_chosen_in_their_order(tree: Path) -> None:
    left, chosen = tree / "left", tree / "chosen.json"
    left.mkdir()
    assert run(tree, {REACHED: str(left), WATCHED: "pymodels firmware"}, "tests/test_sums.py").returncode == 0
    reached = read_reached([left / part_of("tests/test_sums.py")])
    over, under = (f"tests/test_sums.py::test_{name}" for name in ("over", "under"))
    assert list(reached.tests("firmware/sums.py", TEXT, TEXT.index("(a +"))) == [over]
    condition = list(reached.tests("firmware/sums.py", TEXT, TEXT.index("a > L")))
    assert set(condition[:2]) == {over, under} and len(condition) == 3, "an import executes it, too"
    assert len(reached.tests("firmware/sums.py", TEXT, TEXT.index("3"))) == 3
    chosen.write_text(json.dumps({under: 1.0, over: 2.0}), encoding="utf-8")
    said = run(tree, {CHOSEN: str(chosen)}, "tests/test_sums.py").stdout
    assert "2 passed" in said and said.index("test_under") < said.index("test_over")


def test_a_test_that_never_ends_is_ended(tree: Path) -> None:
    chosen = tree / "chosen.json"
    chosen.write_text(
        json.dumps({"tests/test_endless.py::test_endless": (0.2 - TEST.spare) / TEST.factor}), encoding="utf-8"
    )
    assert run(tree, {CHOSEN: str(chosen)}, "tests/test_endless.py").returncode == ENDLESS
