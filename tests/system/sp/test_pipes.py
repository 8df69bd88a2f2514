"""Pipes on the RTL of the SP adapter: equality, and streams over faulty links.

Strategy: a small run of `pipes_stream` on a board with two routes a pair, one of which is slow, where links lose and
damage packets; the study compares every byte. Packets must have been retransmitted; the other simulator has the same
results and trace.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from pymodels.builders import board
from pymodels.config.generate import cluster_on
from pymodels.config.writer import write
from pymodels.updown import up_down
from tests.system.runs import assert_equal, must

STUDY, PROFILE = "pipes_stream", "sp+ppc604-332"
SMALL = "repetitions=1 bytes=1500"
BAD = "pipes.timeout_us=130 fault.loss=0.06 fault.damage=0.06 fault.late_port=chip1.6 fault.late_us=15"


@pytest.fixture(name="cluster", scope="module")
def fixture_cluster(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Board of two node chips and two link chips, with a host on each node chip."""
    topology = board(("paris", "metz"), chips=2)
    return str(
        write(cluster_on("ways", topology, up_down(topology, most=2)), tmp_path_factory.mktemp("ways"), "Two ways")
    )


def test_streams_over_faulty_links_arrive_complete_and_equally_on_both_simulators(cluster: str, tmp_path: Path) -> None:
    one, other = [
        must(STUDY, simulator, tmp_path / simulator, f"{SMALL} {BAD}", cluster, 3, PROFILE)
        for simulator in ("verilator", "icarus")
    ]
    assert one.metrics["resent"] > 1
    assert_equal(one, other)


def test_nothing_is_retransmitted_over_faultless_links(cluster: str, tmp_path: Path) -> None:
    good = must(STUDY, "verilator", tmp_path, SMALL, cluster, profile=PROFILE)
    assert good.metrics["resent"] == good.metrics["doubled"] == 0
    assert good.metrics["stream_MBps_pipe"] < good.metrics["stream_MBps_direct"]
