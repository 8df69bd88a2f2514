"""Unmodified programs on the RTL: mpi4py of PyPI and its benchmarks.

Strategy: the commands are those that its users type. Their output is checked, and runs are compared: they must be equal
on both simulators and from run to run, since simulated time depends on the calls alone.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.system.runs import Run, assert_equal, must, run

BENCH = f"{sys.executable} -m mpi4py.bench"


def bench(words: str, folder: Path, simulator: str = "verilator") -> Run:
    """Run a benchmark of mpi4py on two hosts."""
    return must("program", simulator, folder, f'command="{BENCH} {words}"')


def said(done: Run, rank: int = 0) -> str:
    """Return the output of a rank."""
    return (done.folder / f"program-{rank}.txt").read_text(encoding="utf-8")


def test_ringtest_is_equal_on_both_simulators_and_run_after_run(tmp_path: Path) -> None:
    first = bench("ringtest", tmp_path / "first")
    assert said(first).startswith("time for 1 loops = ")
    assert "(2 processes, 1 bytes)" in said(first)
    again, icarus = bench("ringtest", tmp_path / "again"), bench("ringtest", tmp_path / "icarus", "icarus")
    assert said(first) == said(again) == said(icarus)
    assert_equal(first, again, same_simulator=True)
    assert_equal(first, icarus)


def test_pingpong_measures_simulated_time(tmp_path: Path) -> None:
    """Longer messages take longer, and all of one size take about the same time."""
    rows = [line.split() for line in said(bench("pingpong -l 20 -s 2 -m 64 -n 256", tmp_path)).splitlines()[2:]]
    assert [int(row[0]) for row in rows] == [64, 128, 256]
    means, deviations = [float(row[3]) for row in rows], [float(row[5]) for row in rows]
    assert 5e-6 < means[0] < means[1] < means[2] < 50e-6
    assert all(deviation < mean / 10 for mean, deviation in zip(means, deviations, strict=True))


def test_an_exception_on_one_rank_ends_the_run_with_its_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "wrong.py").write_text(
        "from mpi4py import MPI\nif MPI.COMM_WORLD.rank: print(1 / 0)\n", encoding="utf-8"
    )
    monkeypatch.chdir(tmp_path)
    done = run("program", "verilator", tmp_path / "run", f'command="{sys.executable} wrong.py"')
    assert not done.passed
    told = "\n".join(done.failures)
    assert "rank 1: " in told and "status 1" in told and "ZeroDivisionError" in told


def test_a_plain_function_is_a_rank_without_a_process_and_equal_on_both_simulators(tmp_path: Path) -> None:
    first = must("mpi_function", "verilator", tmp_path / "first")
    assert said(first).startswith("round: [0, 1] after ")
    assert said(first, 1) == "passed on [0]\n"
    again = must("mpi_function", "verilator", tmp_path / "again")
    assert_equal(first, again, same_simulator=True)
    assert_equal(first, must("mpi_function", "icarus", tmp_path / "icarus"))
