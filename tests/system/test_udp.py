"""UDP on the RTL: equality, the life of its datagrams, and losses on wires.

Strategy: one small run of `udp_latency` with datagrams of one frame and of two, with gated clocks. On the other
simulator and with free-running clocks results and trace are equal. Every datagram is followed from its call to the
return of the receiving call, and its stages are those of a kernel with interrupts. With signals the far process
computes instead. Wires that lose frames lose some datagrams of the study, which still passes. On the hosts of paper
001, chapter 5, a datagram is slower than a message of Berkeley VIA, also without the one calibrated value.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tb.report.stages import stages_of
from tests.system.lives import whole_lives
from tests.system.runs import Run, assert_equal, must

STUDY = "udp_latency"
SMALL = "repetitions=1 largest=1024 udp.mtu=576"
INTERRUPT_US = 10.0
"""Minimum latency of an interrupt on the default profile, us."""


@pytest.fixture(name="reference", scope="module")
def fixture_reference(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Return the run on Verilator with gated clocks."""
    return must(STUDY, "verilator", tmp_path_factory.mktemp(STUDY), SMALL)


@pytest.mark.parametrize(("simulator", "always_on"), [("verilator", 1), ("icarus", 0)])
def test_results_and_trace_are_equal(reference: Run, simulator: str, always_on: int, tmp_path: Path) -> None:
    again = must(STUDY, simulator, tmp_path, f"{SMALL} run.always_on={always_on}")
    assert len(again.trace) > 500, "there is something to compare"
    assert_equal(reference, again)


def test_datagrams_are_followed_whole_through_kernel_interrupt_and_process(reference: Run) -> None:
    lives = whole_lives(reference)
    assert len(lives) == reference.metrics["datagrams"] and all(life.arrived is not None for life in lives)
    for life in lives:
        took = {stage.name: stage.duration / 1e6 for stage in stages_of(life)}
        assert {"kernel_sends", "interrupt", "kernel_receives", "wake_and_copy", "returns"} <= took.keys()
        assert took["interrupt"] > INTERRUPT_US or len(life.pieces) > 1, "only a frame behind another has it begun"
    assert {len(life.pieces) for life in lives} == {1, 2}


def test_a_process_that_computes_answers_in_its_handler(tmp_path: Path, reference: Run) -> None:
    signalled = must(STUDY, "verilator", tmp_path, f"{SMALL} signals=1").metrics
    assert signalled["datagrams"] == reference.metrics["datagrams"] and not signalled["lost"]
    assert signalled["udp_us_4B"] > reference.metrics["udp_us_4B"], "a signal, and a system call more"


def test_datagrams_with_lost_frames_do_not_arrive(tmp_path: Path) -> None:
    lost = must(STUDY, "verilator", tmp_path, "repetitions=6 largest=64 fault.loss=0.1 fault.damage=0.05").metrics
    assert 0 < lost["lost"] < lost["datagrams"]


def test_without_the_calibrated_value_a_datagram_still_takes_longer_than_a_message_of_via(tmp_path: Path) -> None:
    profile, small = "lanai9-l7+p2-300", "repetitions=5 largest=4 host.frame_ns=0"
    udp = must(STUDY, "verilator", tmp_path / "udp", small, profile=profile).metrics["udp_us_4B"]
    via = must("via_compare", "verilator", tmp_path / "via", "rounds=4 messages=3", profile=profile).metrics["bvia2_us"]
    assert via < udp < 2 * via
