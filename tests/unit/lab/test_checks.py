"""Are the named checks of a study counted, dated and kept apart?

Strategy: a lab without a cluster makes checks in loops, on several lines and with invalid names; simulated time is that
of its kernel.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path

import pytest

from pymodels.results import ResultsError
from tb.tools.paths import ROOT
from tests.unit.studies.made_up_mail import START_PS, MadeUpLab

STUDIES = sorted((ROOT / "tb" / "studies").glob("*/*.py"))


async def loop(lab: MadeUpLab) -> None:
    for number in range(4):
        await lab.kernel.sleep(1_000)
        lab.check("even numbers", number % 2 == 0, f"{number} is odd")
        lab.check("numbers", number < 4)


def test_a_check_in_a_loop_has_one_record_with_the_time_of_its_first_failure() -> None:
    lab = MadeUpLab()
    lab.finish(loop(lab))
    assert list(lab.findings.checks) == ["even numbers", "numbers"]
    even, numbers = lab.findings.checks.values()
    assert (even.evaluations, even.failures, even.sim_ps - START_PS) == (4, ["1 is odd", "3 is odd"], 2_000)
    assert (numbers.evaluations, numbers.failures, numbers.sim_ps - START_PS) == (4, [], 4_000)
    assert lab.findings.failures == ["even numbers: 1 is odd", "even numbers: 3 is odd"]


def test_a_name_on_two_lines_is_rejected_with_both() -> None:
    lab = MadeUpLab()
    lab.check("order", True)
    with pytest.raises(ResultsError, match=r"test_checks.py:\d+: check 'order': .*test_checks.py:\d+ has a check of"):
        lab.check("order", True)


def test_a_condition_in_place_of_the_name_is_rejected() -> None:
    with pytest.raises(ResultsError, match="name of a check: not text: it is True of type bool; write lab.check"):
        MadeUpLab().check(True, "nothing arrived")  # type: ignore[arg-type]


def test_a_check_without_a_text_fails_too() -> None:
    lab = MadeUpLab()
    lab.check("order", False)
    assert lab.findings.failures == ["order: does not hold"]


def modules(file: Path) -> set[Path]:
    """Return a study and the modules of `tb.studies` that it imports, directly or not."""
    found: set[Path] = set()
    left = {file}
    while left:
        found.add(one := left.pop())
        tree = ast.parse(one.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tb.studies"):
                base = ROOT.joinpath(*(node.module or "").split("."))
                named = [base.with_suffix(".py"), *(base / f"{name.name}.py" for name in node.names)]
                left |= {path for path in named if path.is_file()} - found
    return found


def check_names(file: Path) -> list[str]:
    """Return the name of each check in a module, as it is written."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute))
    return [
        ast.unparse(call.args[0]) for call in calls if re.search(r"\blab\.check$|_lab\.check$", ast.unparse(call.func))
    ]


def test_names_of_checks_are_unique_in_each_study_and_what_it_imports() -> None:
    names = {file: check_names(file) for file in STUDIES}
    assert sum(map(len, names.values())) > 100
    for file in STUDIES:
        used = Counter(name for module in modules(file) for name in names[module])
        assert not [name for name, count in used.items() if count > 1], file.name
