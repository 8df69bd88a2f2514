"""HAL on the RTL of the SP adapter: equality, a slow route, loss, and the stages of its packets.

Strategy: one small run of `hal_packets` on a board with two routes a pair, one of which is slow, so that packets
overtake each other. With clocks always on, and in a smaller run on the other simulator, results and trace are equal.
Every packet is followed from its send to its handler. Links that lose packets leave some missing, and the study passes.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from pymodels.builders import board
from pymodels.config.generate import cluster_on
from pymodels.config.writer import write
from pymodels.updown import up_down
from tb.tools.paths import SIMULATORS
from tests.system.lives import whole_lives
from tests.system.runs import Run, assert_equal, must

STUDY, PROFILE = "hal_packets", "sp+ppc604-332"
LATE = "repetitions=1 hal.interrupt_delay_us=4 fault.late_port=chip1.6 fault.late_us=20"
SMALL, SMALLER = f"packets=12 {LATE}", f"packets=4 {LATE}"


@pytest.fixture(name="cluster", scope="module")
def fixture_cluster(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Board of two node chips and two link chips, with a host on each node chip."""
    topology = board(("paris", "metz"), chips=2)
    return str(
        write(cluster_on("ways", topology, up_down(topology, most=2)), tmp_path_factory.mktemp("ways"), "Two ways")
    )


@pytest.fixture(name="reference", scope="module")
def fixture_reference(cluster: str, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Reference run on Verilator with gated clocks."""
    return must(STUDY, "verilator", tmp_path_factory.mktemp(STUDY), SMALL, cluster, profile=PROFILE)


def test_results_and_trace_are_equal_with_clocks_always_on(reference: Run, cluster: str, tmp_path: Path) -> None:
    again = must(STUDY, "verilator", tmp_path, f"{SMALL} run.always_on=1", cluster, profile=PROFILE)
    assert len(again.trace) > 1000, "there is something to compare"
    assert_equal(reference, again)


def test_results_and_trace_are_equal_on_both_simulators(cluster: str, tmp_path: Path) -> None:
    one, other = (must(STUDY, name, tmp_path / name, SMALLER, cluster, profile=PROFILE) for name in SIMULATORS)
    assert one.metrics["overtaken"] > 1
    assert_equal(one, other)


def test_packets_on_the_slow_route_are_overtaken(reference: Run) -> None:
    assert reference.metrics["overtaken"] > 3 and not reference.metrics["lost"]


def test_packets_are_followed_from_send_to_handler(reference: Run) -> None:
    lives = whole_lives(reference)
    assert len(lives) > 20 and all(life.arrived is not None for life in lives)


def test_packets_lost_on_links_are_missing(cluster: str, tmp_path: Path) -> None:
    lost = must(STUDY, "verilator", tmp_path, f"{SMALL} fault.loss=0.2", cluster, profile=PROFILE)
    assert 0 < lost.metrics["lost"] < 10
