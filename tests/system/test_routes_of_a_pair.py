"""Pair with several routes: packets overtake those on a late route.

Strategy: two hosts of a small board of SP chips, with two routes per pair. Packets use them in turn, with and without a
delay of one of them; overtaken packets are counted. Results and trace are equal on both simulators and with
free-running clocks.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from pymodels.builders import board
from pymodels.config.generate import cluster_on
from pymodels.config.writer import write
from pymodels.errors import ConfigError
from pymodels.updown import up_down
from tests.system.runs import assert_equal, must, run

LATE = "fault.late_port=chip1.6 fault.late_us=5"


@pytest.fixture(name="cluster", scope="module")
def fixture_cluster(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return a board of two node chips and two link chips, with a host on each node chip."""
    topology = board(("paris", "metz"), chips=2)
    return str(
        write(cluster_on("ways", topology, up_down(topology, most=2)), tmp_path_factory.mktemp("ways"), "Two ways")
    )


def test_packets_overtake_those_on_a_late_route(cluster: str, tmp_path: Path) -> None:
    late = must("sp_ways", "verilator", tmp_path / "late", LATE, cluster, profile="sp")
    assert late.metrics["passed"] > 3 and late.metrics["ways"] == 2
    again = must("sp_ways", "icarus", tmp_path / "icarus", LATE, cluster, profile="sp")
    assert_equal(late, again)
    assert_equal(late, must("sp_ways", "verilator", tmp_path / "on", f"{LATE} run.always_on=1", cluster, profile="sp"))


def test_routes_that_are_equally_long_keep_the_order(cluster: str, tmp_path: Path) -> None:
    assert must("sp_ways", "verilator", tmp_path, "", cluster, profile="sp").metrics["passed"] == 0


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ("fault.late_port=chip1", "fault.late_port: unknown port"),
        ("fault.late_port=chip1.5", "no cable ends at 'chip1.5'; cabled: chip1.0, chip1.6, chip1.7"),
        ("fault.late_us=5", "fault.late_us alone"),
        ("fault.late_port=chip1.6 fault.late_us=-1", "fault.late_us"),
    ],
)
def test_an_invalid_delay_is_rejected(settings: str, text: str, cluster: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=text):
        run("sp_ways", "verilator", tmp_path, settings, cluster, profile="sp")
