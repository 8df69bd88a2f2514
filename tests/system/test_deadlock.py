"""A deadlock in the network is detected and its cycle reported; without one nothing is reported.

Strategy: packets on cyclic routes around a ring of three switches. Long packets must block each other; the same packets
to the next switch cannot. The reported cycle is compared with the only cycle of the ring. Cyclic routes are still
rejected for other studies.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from pymodels.config import write
from pymodels.config.generate import cluster_on
from pymodels.errors import ConfigError
from tests.system.runs import must, run
from tests.unit.config.networks import clockwise, ring


@pytest.fixture(name="cyclic", scope="module")
def fixture_cyclic(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the configuration of a ring of three switches with all routes clockwise."""
    topology = ring(3)
    cluster = cluster_on("ring", topology, clockwise(topology))
    return str(write(cluster, tmp_path_factory.mktemp("ring"), "a ring with cyclic routes"))


def test_a_deadlock_on_cyclic_routes_is_reported_link_by_link(cyclic: str, tmp_path: Path) -> None:
    done = must("ring_deadlock", "icarus", tmp_path, cluster=cyclic)
    assert done.metrics == {"deadlocks": 1, "in_the_cycle": 6}
    told = (tmp_path / "stuck.txt").read_text(encoding="utf-8")
    for switch in range(3):
        peer = (switch + 1) % 3
        room = f"room in the slack buffer of switch {peer} port 2, held by switch {peer} port 2"
        assert f"switch {switch} port 0 waits for {room}" in told
        assert f"switch {switch} port 2 waits for output 3 of switch {switch}, held by switch {switch} port 0" in told


def test_packets_in_the_central_queues_of_sp_switches_are_reported(tmp_path: Path) -> None:
    topology = ring(3, ports=8)
    cluster = str(write(cluster_on("ring", topology, clockwise(topology)), tmp_path, "a ring with cyclic routes"))
    settings = "packets=2 bytes=1000 steps=2 switch.central_queue=64"
    done = must("sp_stuck", "verilator", tmp_path / "ring", settings, cluster=cluster, profile="sp")
    assert done.metrics["cycles"] == 1
    told = (done.folder / "stuck.txt").read_text(encoding="utf-8")
    for switch in range(3):
        queue = f"switch {switch} central queue"
        assert f"switch {switch} port 2 waits for room in the central queue of switch {switch}, held by {queue}" in told
        assert f"{queue} waits for output 3 of switch {switch}, held by switch {switch} port 0" in told


def test_packets_without_a_reader_are_whole_in_the_central_queue(tmp_path: Path) -> None:
    done = must("sp_stuck", "verilator", tmp_path, "packets=3 bytes=400", "four_hosts", profile="sp")
    assert done.metrics["cycles"] == 0
    told = (tmp_path / "stuck.txt").read_text(encoding="utf-8")
    assert "switch 0 central queue waits for room at NIC 3, held by node 3 net recv" in told
    assert "node 3 net recv waits for a receive buffer, held by NIC 3" in told


def test_packets_that_do_not_meet_are_no_deadlock(cyclic: str, tmp_path: Path) -> None:
    done = must("ring_deadlock", "icarus", tmp_path, "steps=1", cluster=cyclic)
    assert done.metrics == {"deadlocks": 0, "in_the_cycle": 0}
    assert not (tmp_path / "stuck.txt").exists()


def test_other_studies_reject_cyclic_routes(cyclic: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cyclic routes"):
        run("echo_pingpong", "icarus", tmp_path, cluster=cyclic)
