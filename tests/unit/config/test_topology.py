"""Topologies and their builders.

Strategy: every rule of `check` is violated once and the whole error text compared. Builders are compared with hand
counts and checked. A network written as configuration lines and read again is compared in the tests of configurations.
Running port numbers are checked in both directions.
"""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pymodels.builders import clos, host_names, single_switch, smallest_switch, tree
from pymodels.topology import End, Link, Switch, Topology, TopologyError

S = (Switch("s0", 4), Switch("s1", 4))


def link(a: str, port_a: int, b: str, port_b: int, metres: float | None = None) -> Link:
    return Link(End(a, port_a), End(b, port_b), metres)


GOOD = (link("h0", 0, "s0", 0), link("s0", 3, "s1", 3), link("h1", 0, "s1", 1))


def network(
    switches: Sequence[Switch] = S, hosts: Sequence[str] = ("h0", "h1"), links: Sequence[Link] = GOOD
) -> Topology:
    return Topology(tuple(switches), tuple(hosts), tuple(links))


def test_ports_count_through_all_switches() -> None:
    topology = network()
    topology.check()
    assert [topology.running_port(topology.attachment(h)) for h in topology.hosts] == [0, 5]
    assert topology.port_at(5) == End("s1", 1)
    assert topology.port_at(8) is None and topology.port_at(-1) is None


def test_network_without_hosts_is_valid() -> None:
    network(hosts=(), links=(GOOD[1],)).check()


def test_present_is_the_mask_of_cabled_ports() -> None:
    assert network().present("s0") == 0b1001
    assert network().present("s1") == 0b1010


BROKEN = {
    "duplicate switch": (
        network(switches=(*S, Switch("s0", 4))),
        "duplicate name 's0': two nodes have it; rename one of them",
    ),
    "host named like a switch": (
        network(hosts=("h0", "s1")),
        "duplicate name 's1': two nodes have it; rename one of them",
    ),
    "odd switch": (
        network(switches=(Switch("s0", 5), S[1])),
        "value out of range: switch 's0' has 5 ports; switches have 4, 8 or 16 ports",
    ),
    "unknown end": (
        network(links=(*GOOD, link("h2", 0, "s0", 1))),
        "unknown host or switch: LINK names 'h2', which is neither a HOST nor a SWITCH; did you mean 'h1'?",
    ),
    "no such switch port": (
        network(links=(*GOOD, link("s0", 1, "s1", 4))),
        "value out of range: switch 's1' has no port 4; its ports are 0 to 3",
    ),
    "no such host port": (
        network(links=(link("h0", 1, "s0", 1),)),
        "value out of range: host 'h0' has no port 1; its ports are 0 to 0",
    ),
    "two hosts": (
        network(links=(link("h0", 0, "h1", 0),)),
        "cable without a switch: it joins the hosts 'h0' and 'h1'; put a SWITCH between them",
    ),
    "loop": (
        network(links=(*GOOD, link("s0", 1, "s0", 2))),
        "cable loops back: both ends are on 's0'; lead one end to another switch or host",
    ),
    "port twice": (
        network(links=(*GOOD, link("s0", 3, "s1", 0))),
        "port used twice: port 3 of 's0' already leads to s1.3; use a free port",
    ),
    "too long": (
        network(links=(link("h0", 0, "s0", 0, 201.0),)),
        "value out of range: a cable of 201 metres; cables have 0 to 200 metres",
    ),
    "unconnected": (
        network(links=GOOD[:2]),
        "unconnected host 'h1': it has no cable; add LINK h1 0 <switch> <port>",
    ),
    "two parts": (
        network(links=(GOOD[0], GOOD[2])),
        "unconnected host 'h1': no cables lead from 'h0' to it; add a LINK between the two parts of the network",
    ),
}


@pytest.mark.parametrize(("topology", "text"), BROKEN.values(), ids=BROKEN.keys())
def test_invalid_topology_is_rejected(topology: Topology, text: str) -> None:
    with pytest.raises(TopologyError) as error:
        topology.check()
    assert str(error.value) == text
    assert error.value.exit_code == 2


def test_single_switch_puts_host_i_on_port_i() -> None:
    topology = single_switch(("a", "b", "c"), 4)
    assert [topology.attachment(h).port for h in "abc"] == [0, 1, 2]


@pytest.mark.parametrize(
    ("hosts", "ports", "leaves", "spines"),
    [(1, 8, 1, 1), (8, 8, 2, 1), (16, 8, 4, 2), (32, 8, 8, 4), (8, 4, 4, 2), (128, 16, 16, 8), (17, 16, 3, 2)],
)
def test_clos_has_full_bisection_with_few_spines(hosts: int, ports: int, leaves: int, spines: int) -> None:
    topology = clos(host_names(hosts), ports)
    names = [s.name for s in topology.switches]
    assert sum(n.startswith("leaf") for n in names) == leaves
    assert sum(n.startswith("spine") for n in names) == spines
    assert len(topology.links) == hosts + leaves * ports // 2


@given(hosts=st.integers(1, 70), ports=st.sampled_from((4, 8, 16)))
def test_tree_connects_any_number_of_hosts(hosts: int, ports: int) -> None:
    topology = tree(host_names(hosts), ports)
    topology.check()
    between = [k for k in topology.links if not topology.is_host(k.a.node)]
    assert len(between) == len(topology.switches) - 1


def test_more_hosts_than_ports_are_rejected() -> None:
    remedy = "use larger switches, up to 16 ports, or a fat tree, which takes ports ** 3 / 4"
    with pytest.raises(TopologyError) as error:
        single_switch(host_names(9), 8)
    assert str(error.value) == f"more hosts than ports: 9 hosts, but one switch of 8 ports takes 8; {remedy}"
    with pytest.raises(TopologyError) as error:
        clos(host_names(33), 8)
    assert (
        str(error.value) == f"more hosts than ports: 33 hosts, but leaf and spine of 8-port switches takes 32; {remedy}"
    )


def test_smallest_switch_has_enough_ports() -> None:
    assert [smallest_switch(n) for n in (1, 4, 5, 8, 9, 16, 40)] == [4, 4, 8, 8, 16, 16, 16]


def test_config_lines_name_every_switch_and_cable() -> None:
    topology = network(links=(link("h0", 0, "s0", 0, 2.5), *GOOD[1:]))
    lines = ["SWITCH s0 4", "SWITCH s1 4", "LINK h0 0 s0 0 2.5", "LINK s0 3 s1 3"]
    assert topology.config_lines() == [*lines, "LINK h1 0 s1 1"]
    assert topology.config_lines(mapped=True) == lines
