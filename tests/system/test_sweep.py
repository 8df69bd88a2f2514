"""Sweep on a simulator: its points give the results of single runs, and leave only table, plot and results.

Strategy: two points of the smallest study, through the real command; the table is compared with a single run of the
same settings. A point that fails in the simulator must be reported with the words of its run.
"""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tb.sweep import cache, run, work
from tests.system.runs import SCENARIOS, must


@pytest.fixture(autouse=True)
def fixture_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Set a private cache and work folder."""
    monkeypatch.setattr(cache, "FOLDER", tmp_path / "cache")
    monkeypatch.setattr(work, "WORK", tmp_path / "work")


def test_points_equal_single_runs(tmp_path: Path) -> None:
    words = ["echo_pingpong", "--sim", "icarus", "--axes", "switch.fall_through_ns=100,300", "--set", "repetitions=1"]
    assert run.main([*words, "--out", str(tmp_path / "out")]) == 0
    table = pq.read_table(tmp_path / "out" / "points.parquet").to_pydict()
    alone = must("echo_pingpong", "icarus", tmp_path / "alone", "repetitions=1 switch.fall_through_ns=300").metrics
    assert {name: table[name][1] for name in alone} == alone
    assert table["one_way_us_0B"][0] < table["one_way_us_0B"][1]
    assert not list((tmp_path / "work").iterdir())


def test_a_failed_point_reports_the_reason(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = [f"{SCENARIOS}.hang", "--sim", "icarus", "--axes", "run.hang_us=100"]
    assert run.main([*words, "--out", str(tmp_path / "out")]) == 1
    said = capsys.readouterr().out
    assert "failed: run.hang_us=100: HangError: nothing has happened for 0.0001 s of simulated time" in said
    assert "1 of 1 points, 0 known, 1 failed, 1 tried again" in said
