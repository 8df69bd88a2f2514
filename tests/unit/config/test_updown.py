"""Up*/down* routing.

Strategy: random connected networks must get routes that deliver and have no dependency cycle. A network is a random
tree of switches with random further cables and hosts on random free ports. Their length is compared with an independent
search over all legal paths. Rings and tori, whose shortest routes deadlock, are tried with every root. The spread over
parallel up-links of Clos networks is compared with hand calculations. Repeated computations give equal routes.
"""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from pymodels.builders import clos, host_names, single_switch, tree
from pymodels.routes import RouteError, Routes, check_routes, find_cycle, verify
from pymodels.topology import Channel, End, Link, Switch, Topology, TopologyError
from pymodels.updown import UpDown, up_down
from tests.unit.config.networks import ring, torus


@st.composite
def networks(draw: st.DrawFn) -> Topology:
    """Draw a random network of up to 8 switches and 1 to 10 hosts, including parallel cables."""
    count = draw(st.integers(1, 8))
    switches = [Switch(f"s{i}", draw(st.sampled_from((4, 8, 16)))) for i in range(count)]
    free = {s.name: draw(st.permutations(range(s.ports))) for s in switches}
    links: list[Link] = []

    def cable(a: str, b: str) -> None:
        links.append(Link(End(a, free[a].pop()), End(b, free[b].pop())))

    for i in range(1, count):
        roomy = [s.name for s in switches[:i] if free[s.name]]
        if roomy:
            cable(draw(st.sampled_from(roomy)), f"s{i}")
    for _ in range(draw(st.integers(0, 8))):
        a, b = draw(st.sampled_from(switches)).name, draw(st.sampled_from(switches)).name
        if a != b and free[a] and free[b]:
            cable(a, b)
    reached = {"s0"} | {end.node for link in links for end in (link.a, link.b)}
    hosts = []
    for i in range(draw(st.integers(1, 10))):
        roomy = [name for name in sorted(reached) if free[name]]
        if roomy:
            hosts.append(f"h{i}")
            links.append(Link(End(f"h{i}", 0), End((at := draw(st.sampled_from(roomy))), free[at].pop())))
    assume(hosts)  # parallel cables can take every port
    return Topology(tuple(switches), tuple(hosts), tuple(links))


def len_of(topology: Topology) -> str:
    return f"{len(topology.switches)} switches"


def is_whole(topology: Topology) -> bool:
    try:
        topology.check()
    except TopologyError:
        return False
    return True


@settings(max_examples=150)
@given(networks().filter(is_whole))
def test_routes_on_any_connected_network_deliver_and_cannot_deadlock(topology: Topology) -> None:
    routes = up_down(topology)
    check_routes(topology, routes)
    assert find_cycle(topology, routes) == ()
    assert routes.computed


@pytest.mark.parametrize("topology", [ring(3), ring(4), ring(7), torus(3), torus(4)], ids=len_of)
def test_networks_whose_shortest_routes_deadlock_get_legal_routes(topology: Topology) -> None:
    check_routes(topology, up_down(topology))
    for root in topology.switches:
        check_shortest(topology, root.name)


def test_computed_routes_that_could_deadlock_are_rejected_with_their_cycle(monkeypatch: pytest.MonkeyPatch) -> None:
    def all_moves(self: UpDown, state: tuple[str, bool]) -> list[tuple[Channel, tuple[str, bool]]]:
        return [(channel, (channel.target.node, False)) for channel in self.out[state[0]]]

    monkeypatch.setattr(UpDown, "_moves", all_moves)
    with pytest.raises(
        RouteError, match=r"cyclic routes: .* in a circle: s0\.2->s4\.3 .*, s1\.2->s0\.3 .*; give routes"
    ):
        up_down(ring(5))


@settings(max_examples=60)
@given(networks().filter(is_whole), st.data())
def test_every_root_delivers_without_deadlock(topology: Topology, data: st.DataObject) -> None:
    root = data.draw(st.sampled_from(sorted({topology.attachment(h).node for h in topology.hosts})))
    check_routes(topology, up_down(topology, root))


@settings(max_examples=60)
@given(networks().filter(is_whole))
def test_routes_are_the_shortest_legal_ones(topology: Topology) -> None:
    check_shortest(topology, topology.attachment(topology.hosts[0]).node)


def check_shortest(topology: Topology, root: str) -> None:
    rank = UpDown(topology, root).rank
    routes = up_down(topology, root)
    check_routes(topology, routes)
    for (source, target), route in routes.table.items():
        assert len(route) == shortest(topology, rank, source, target)


def shortest(topology: Topology, rank: dict[str, tuple[int, int]], source: str, target: str) -> int:
    """Switches on the shortest legal path: grow the sets of switches reached still going up, and after turning down."""
    up, down = {topology.attachment(source).node}, set[str]()
    switches = 1
    while topology.attachment(target).node not in up | down:
        near = {s: {topology.peers[e].node for e in topology.cabled(s)} & rank.keys() for s in up | down}
        down |= {n for s in up | down for n in near[s] if rank[n] > rank[s]}
        up |= {n for s in up for n in near[s] if rank[n] < rank[s]}
        switches += 1
    return switches


def load(topology: Topology, routes: Routes) -> Counter[Channel]:
    """Routes over each channel between switches."""
    taken = (c for pair, route in routes.table.items() for c in verify(topology, pair, route))
    return Counter(c for c in taken if not topology.is_host(c.source.node) and not topology.is_host(c.target.node))


@pytest.mark.parametrize(("hosts", "ports"), [(8, 8), (16, 8), (32, 8), (8, 4), (64, 16)])
def test_clos_up_links_carry_equal_shares(hosts: int, ports: int) -> None:
    topology = clos(host_names(hosts), ports)
    shares = load(topology, up_down(topology))
    half = ports // 2
    assert set(shares.values()) == {hosts - half}
    assert len(shares) == 2 * half * (hosts // half)


def test_routes_on_one_switch_have_one_byte() -> None:
    routes = up_down(single_switch(host_names(8)))
    assert {len(route) for route in routes.table.values()} == {1}
    assert routes.between("node00", "node07") == b"\x87"
    assert routes.between("node07", "node00") == b"\xb9"


@pytest.mark.parametrize("build", [clos, tree])
def test_repeated_computations_give_equal_routes(build: type[Topology]) -> None:
    topology = build(host_names(24), 8)  # type: ignore[arg-type, call-arg]
    assert up_down(topology).table == up_down(topology).table


def test_network_without_hosts_needs_no_routes() -> None:
    assert up_down(Topology((Switch("s0", 4),), (), ())).table == {}


def test_unknown_root_is_rejected() -> None:
    with pytest.raises(TopologyError) as error:
        up_down(single_switch(("a", "b")), "s9")
    assert str(error.value) == "unknown switch: root 's9' is not a switch; did you mean 's0'?"
