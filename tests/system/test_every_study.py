"""Studies that no other test runs and whose results no published row compares.

Strategy: the studies are determined when the tests are collected. A study is run elsewhere if a test in a simulator's
folder names it. Studies with a smallest run (`TINY`) or a published row are run elsewhere, too. The others run here on
Verilator with their `QUICK` settings, and must pass their own checks and record metrics.
"""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest

from pymodels.published import load_published
from tb.plan import studies
from tb.tools.paths import ROOT
from tests.system.runs import must


def run_elsewhere() -> set[str]:
    """Return the studies that other tests run or that `make figures` compares by its rows."""
    files = [
        path
        for path in (ROOT / "tests").rglob("*.py")
        if "unit" not in path.relative_to(ROOT).parts and path != Path(__file__)
    ]
    texts = [path.read_text("utf-8") for path in files]
    named = {word for text in texts for word in re.findall(r"[\"'](\w+)[\"']", text)}
    return (
        named | {row.study for row in load_published()} | {name for name in studies.names() if studies.load(name).tiny}
    )


LEFT = sorted(set(studies.names()) - run_elsewhere())


@pytest.mark.parametrize("study", LEFT)
def test_a_study_that_nothing_else_runs_passes_its_own_checks(study: str, tmp_path: Path) -> None:
    metrics = must(study, "verilator", tmp_path, studies.load(study).quick).metrics
    assert metrics and all(math.isfinite(value) for value in metrics.values())
