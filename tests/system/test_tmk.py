"""TreadMarks on the RTL: random programs against the model, both simulators, and the substrates against each other.

Strategy: a random program with locks and barriers runs over UDP and over VIA. The study itself compares every read, and
compares faults, twins, diffs, notices and intervals with an independent model. On the other simulator results and trace
are equal. On hosts with a slow kernel many frames wait for one interrupt routine: a program runs there over both
substrates, its result must be right, and it takes less time over VIA. The simulation cost of a page fault is the
difference of two runs.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.system.runs import assert_equal, must

SMALL = "phases=1 tmk.processes=2"


def test_results_and_trace_are_equal_on_both_simulators(tmp_path: Path) -> None:
    reference, again = [must("tmk_random", one, tmp_path / one, SMALL) for one in ("verilator", "icarus")]
    assert reference.metrics["reads"] > 20
    assert_equal(reference, again)


@pytest.mark.parametrize("settings", ["tmk.on=udp", "tmk.on=via via.preset=bvia2", "fault.loss=0.1 tmk.resend_us=2000"])
def test_a_random_program_has_the_counts_of_the_model(settings: str, tmp_path: Path) -> None:
    metrics = must("tmk_random", "verilator", tmp_path, f"phases=2 {settings}").metrics
    assert metrics["processes"] == 3 and metrics["diffs"] > 4 and metrics["reads"] > 20
    assert (metrics["resent"] > 0) == ("resend_us" in settings)


def test_results_of_successive_programs_are_right_and_their_times_add_up(tmp_path: Path) -> None:
    settings = (
        "programs=sor,jacobi scale=64 processes=2"  # each over both substrates, with a reset of every NIC in between
    )
    metrics = must("tmk_apps", "verilator", tmp_path, settings, "two_hosts", profile="lanai9-l7+p2-300").metrics
    for substrate in ("udp", "bvia"):
        shares = [metrics[f"sor_{one}_s_{substrate}"] for one in ("computation", "communication", "wait", "protocol")]
        assert sum(shares) == pytest.approx(metrics[f"sor_s_{substrate}"], rel=0.01), "both begin nearly together"
    assert metrics["sor_gain"] > 1 and metrics["sor_messages_udp"] == metrics["sor_messages_bvia"]


@pytest.mark.parametrize(("substrate", "most"), [("udp", 39), ("bvia", 56)])
def test_a_page_fault_between_two_hosts_takes_a_bounded_number_of_wake_ups(
    substrate: str, most: int, tmp_path: Path
) -> None:
    wakes = []
    for faults in (4, 14):
        settings, profile = f"faults={faults} over={substrate}", "lanai9-l7+p2-300"
        done = must("page_faults", "verilator", tmp_path / str(faults), settings, "two_hosts", profile=profile)
        assert done.metrics["faults"] == faults
        wakes.append(done.results.cost.python_wakes)
    assert (wakes[1] - wakes[0]) / 10 <= most
