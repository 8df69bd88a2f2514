"""MPI on the RTL, over each layer that it stands on.

Strategy: the studies run as a user would run them. Random operations of four ranks must equal the sequential matcher,
which the unit tests show to find a wrong one; times are held against each other, not against figures. That both
simulators agree is asked in `test_equality.py`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.system.runs import must


@pytest.mark.parametrize("on", ["grim", "via"])
def test_random_operations_equal_a_sequential_matcher(on: str, tmp_path: Path) -> None:
    metrics = must("mpi_matching", "verilator", tmp_path, f"operations=200 mpi.on={on}").metrics
    assert metrics["wrong"] == 0
    assert metrics["matched"] > 80


@pytest.mark.parametrize("on", ["grim", "via"])
def test_a_message_that_asks_first_takes_longer_and_moves_more_bytes_a_second_than_a_null_one(
    on: str, tmp_path: Path
) -> None:
    metrics = must("mpi_pingpong", "verilator", tmp_path, f"repetitions=2 messages=4 largest=4096 mpi.on={on}").metrics
    assert metrics["one_way_us_0B"] < metrics["one_way_us_64B"] < metrics["one_way_us_4095B"]
    assert metrics["one_way_us_4095B"] + metrics["one_way_us_0B"] < metrics["one_way_us_4096B"]
