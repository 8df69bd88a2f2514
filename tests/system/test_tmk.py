"""TreadMarks on the RTL: random programs beside the model, equality, the substrates against each other.

Strategy: a random program with locks and barriers runs over UDP and over VIA; every read is compared, and faults,
twins, diffs, notices and intervals with an independent model, by the study itself. On the other simulator and with
clocks always on results and trace are equal. On hosts whose kernel is slow many frames wait for one service routine:
the micro-benchmarks run there, and each is shorter over VIA. A program's result is right on both substrates.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.system.runs import assert_equal, must

SMALL = "phases=1 tmk.processes=2"
OLD_HOSTS = "lanai9-l7+p2-300"


@pytest.mark.parametrize(("on", "simulator"), [("udp", "icarus"), ("via", "verilator")])
def test_random_programs_count_what_the_model_counts_on_both_simulators(
    on: str, simulator: str, tmp_path: Path
) -> None:
    reference = must("tmk_random", "verilator", tmp_path / "a", f"{SMALL} tmk.on={on}")
    again = must("tmk_random", simulator, tmp_path / "b", f"{SMALL} tmk.on={on} run.always_on={int(on == 'via')}")
    assert reference.metrics["faults"] > 4 and reference.metrics["diffs"] > 0
    assert_equal(reference, again)


@pytest.mark.parametrize("seed", [4, 13])
def test_eight_and_six_processes_count_what_the_model_counts(seed: int, tmp_path: Path) -> None:
    must("tmk_random", "verilator", tmp_path, f"phases=2 tmk.on={'udp' if seed == 4 else 'via'}", seed=seed)


def test_each_micro_benchmark_is_shorter_over_via(tmp_path: Path) -> None:
    metrics = must("tmk_micro", "verilator", tmp_path, "repetitions=2", profile=OLD_HOSTS).metrics
    assert metrics["gain_least"] > 1


def test_a_program_s_result_is_right_and_its_time_adds_up(tmp_path: Path) -> None:
    metrics = must("tmk_apps", "verilator", tmp_path, "programs=sor scale=64 processes=3").metrics
    for substrate in ("udp", "bvia"):
        parts = [metrics[f"sor_{part}_s_{substrate}"] for part in ("computation", "communication", "wait", "protocol")]
        assert sum(parts) == pytest.approx(metrics[f"sor_s_{substrate}"], rel=0.05), "each process began when it could"
        assert metrics[f"sor_messages_{substrate}"] > 50
