"""LAPI on the RTL of the SP adapter: equality, and every call over faulty links.

Strategy: a small run of `lapi_latency` on a board with two routes a pair, one of which is slow, where links lose and
damage packets; the study compares all data. Packets must have been retransmitted; the other simulator has the same
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

STUDY, PROFILE = "lapi_latency", "sp+ppc604-332"
SMALL = "repetitions=1"
BAD = "lapi.timeout_us=60 fault.loss=0.05 fault.damage=0.05 fault.late_port=chip1.6 fault.late_us=20"


@pytest.fixture(name="cluster", scope="module")
def fixture_cluster(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Board of two node chips and two link chips, with a host on each node chip."""
    topology = board(("paris", "metz"), chips=2)
    return str(
        write(cluster_on("ways", topology, up_down(topology, most=2)), tmp_path_factory.mktemp("ways"), "Two ways")
    )


def test_all_calls_work_over_faulty_links_and_equally_on_both_simulators(cluster: str, tmp_path: Path) -> None:
    one, other = [
        must(STUDY, simulator, tmp_path / simulator, f"{SMALL} largest=4 {BAD}", cluster, profile=PROFILE)
        for simulator in ("verilator", "icarus")
    ]
    assert one.metrics["resent"] > 1
    assert_equal(one, other)


def test_interrupts_serve_a_task_without_calls_and_a_put_costs_less_than_an_active_message(
    cluster: str, tmp_path: Path
) -> None:
    good = must(STUDY, "verilator", tmp_path, SMALL, cluster, profile=PROFILE)
    assert good.metrics["resent"] == 0
    for size in (4, 64, 900):
        put, sent = good.metrics[f"put_us_{size}B"], good.metrics[f"amsend_us_{size}B"]
        assert put < sent < good.metrics[f"amsend_completed_us_{size}B"]
        assert put < good.metrics[f"put_interrupt_us_{size}B"]
