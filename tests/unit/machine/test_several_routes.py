"""Several routes for each pair of hosts on the machine, one of them late.

Strategy: boards of SP chips, whose number of routes follows from their structure, and random networks. All routes of a
pair differ, deliver, have the length of the first, and together cannot deadlock. Files with several routes are read
back unchanged. On the machine packets use the routes in turn; packets on a late route are passed by the others, and
keep their own order.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from firmware.view import ClusterView
from pymodels.builders import board, clos, host_names, single_switch
from pymodels.config import load_cluster
from pymodels.config.find import find_config
from pymodels.config.generate import cluster_on
from pymodels.config.writer import write
from pymodels.errors import ConfigError
from pymodels.machine import Machine
from pymodels.routes import Routes, find_cycle, route_of, verify
from pymodels.topology import End, Topology, TopologyError
from pymodels.updown import UpDown, up_down
from tests.unit.machine.test_machine_faults import take_all
from tests.unit.machine.test_machine_network import body, send

TWO = board(("paris", "metz"), chips=2)


def test_hosts_of_a_board_have_a_route_by_each_link_chip() -> None:
    cluster = load_cluster(find_config("sp_board", {}))
    assert cluster.routes == up_down(board(host_names(8)), most=4)
    assert find_cycle(cluster.topology, cluster.routes) == ()
    for source, target in cluster.routes.table:
        ways = [verify(cluster.topology, (source, target), way) for way in cluster.routes.ways(source, target)]
        chips = {channel.target.node for taken in ways for channel in taken} & {f"link{j}" for j in range(4)}
        neighbours = cluster.topology.attachment(source).node == cluster.topology.attachment(target).node
        assert len(chips) == len(ways) - neighbours == (0 if neighbours else 4)


@pytest.mark.parametrize("topology", [clos(host_names(8), 8), clos(host_names(16), 8), TWO], ids=str)
def test_further_routes_differ_and_are_as_short_as_the_first(topology: Topology) -> None:
    routes = up_down(topology, most=3)
    assert routes.most == (2 if topology is TWO else 3)
    assert find_cycle(topology, routes) == ()
    for pair in routes.table:
        ways = routes.ways(*pair)
        assert len(set(ways)) == len(ways) and {len(way) for way in ways} == {len(ways[0])}
        assert all(route_of(verify(topology, pair, way)) == way for way in ways)


def test_no_route_is_chosen_twice_for_any_load() -> None:
    network = UpDown(TWO, "chip0")
    near, far = (TWO.attachment(host).node for host in ("paris", "metz"))
    (busy,) = network.take(near, far)
    network.load[busy] += 100
    one, other = network.take(near, far, 2)
    assert one != other == busy


@pytest.mark.parametrize("computed", [True, False])
def test_several_routes_are_read_as_they_were_written(computed: bool, tmp_path: Path) -> None:
    routes = up_down(TWO, most=2)
    written = cluster_on("ways", TWO, Routes(routes.table, computed, routes.others))
    read = load_cluster(write(written, tmp_path, "Two ways"))
    assert read.routes == written.routes
    assert len(read.routes.ways("paris", "metz")) == 2


def test_more_routes_than_exist_and_zero_routes_are_rejected(tmp_path: Path) -> None:
    routes = up_down(TWO, most=2)
    file = write(cluster_on("ways", TWO, routes), tmp_path, "Two ways")
    lines = tmp_path / "ways_config.txt"
    for count, text in ((3, "no two hosts have 3 shortest ways"), (0, "routes of a pair"), (17, "routes of a pair")):
        lines.write_text(lines.read_text(encoding="utf-8").replace("COMPUTED 2", f"COMPUTED {count}"), encoding="utf-8")
        with pytest.raises(ConfigError, match=text):
            load_cluster(file)
        lines.write_text(lines.read_text(encoding="utf-8").replace(f"COMPUTED {count}", "COMPUTED 2"), encoding="utf-8")


def test_software_sees_all_routes_of_its_node() -> None:
    routes = up_down(TWO, most=2)
    views = [ClusterView(**Machine(2, names=TWO.hosts, topology=TWO, routes=given).view(0)) for given in (routes, None)]
    assert views[0].ways(1) == routes.ways("paris", "metz")
    assert views[1].ways(1) == (views[1].routes[1],)


def arrivals(port: str, by_ps: int) -> list[int]:
    """Eight packets on two routes in turn, one of them late; return the numbers of the received ones in order."""
    routes = up_down(TWO, most=2)
    machine = Machine(2, names=TWO.hosts, topology=TWO, routes=routes)
    if port:
        machine.faults.delay_into(TWO.port(port), by_ps)
    got: list[bytes] = []
    take_all(machine, 1, got)
    packets = [body(100, number) for number in range(8)]
    for number, packet in enumerate(packets):
        send(machine, 0, routes.ways("paris", "metz")[number % 2], packet)
        machine.run(machine.kernel.now / 1e6 + 3)
    machine.run(machine.kernel.now / 1e6 + 100)
    assert machine.network.in_flight() == 0
    return [packets.index(packet) for packet in got]


def test_packets_pass_those_on_a_late_route_which_keep_their_order() -> None:
    assert arrivals("", 0) == list(range(8))
    mixed = arrivals("chip1.6", 10_000_000)
    assert mixed != list(range(8)) and sorted(mixed) == list(range(8))
    for way in (0, 1):
        own = [number for number in mixed if number % 2 == way]
        assert own == sorted(own)


def test_a_negative_delay_and_an_unknown_port_are_rejected() -> None:
    machine = Machine(2)
    with pytest.raises(ValueError, match="must be positive"):
        machine.faults.delay_into(End("s0", 0), -1)
    one = single_switch(("a", "b"))
    for text, cause in (
        ("s1.0", "not a port of a switch"),
        ("s0", "not a port"),
        ("s0.x", "no cable"),
        ("s0.5", "no cable"),
    ):
        with pytest.raises(TopologyError, match=cause):
            one.port(text)
    assert one.port("s0.1") == End("s0", 1)
