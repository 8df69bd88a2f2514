"""Route bytes, where routes lead, and the channel dependency graph.

Strategy: route bytes are checked against the values of the fact sheet and against their own inverse over the whole
range. Each way in which a route can fail is built on a small network and its whole text compared. Cycles are found on
rings, whose one cycle is known by construction, and compared with an independent search (removing channels without
successors). Reverse routes must lead back from every destination.
"""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pymodels.builders import clos, host_names, single_switch
from pymodels.routes import (
    DependencyGraph,
    RouteError,
    Routes,
    check_routes,
    decode,
    encode,
    find_cycle,
    path,
    reverse,
    route_of,
    verify,
)
from pymodels.topology import Channel
from pymodels.updown import up_down
from tests.unit.config.networks import clockwise, ring


@pytest.mark.parametrize(("delta", "byte"), [(0, 0x80), (1, 0x81), (15, 0x8F), (-1, 0xBF), (-15, 0xB1)])
def test_route_bytes_are_those_of_the_fact_sheet(delta: int, byte: int) -> None:
    assert encode(delta) == byte
    assert decode(byte) == delta


def test_only_thirty_one_bytes_are_route_bytes() -> None:
    good = [byte for byte in range(256) if decode(byte) is not None]
    assert good == [*range(0x80, 0x90), *range(0xB1, 0xC0)]


@pytest.mark.parametrize("delta", [-16, 16])
def test_port_distance_beyond_a_switch_is_rejected(delta: int) -> None:
    with pytest.raises(ValueError, match=rf"port distance {delta} is outside -15..15"):
        encode(delta)


@given(st.lists(st.integers(-15, 15)))
def test_reverse_twice_is_the_route(deltas: list[int]) -> None:
    route = bytes(encode(d) for d in deltas)
    assert reverse(reverse(route)) == route


def test_reverse_rejects_an_invalid_route() -> None:
    with pytest.raises(ValueError, match="byte 0x06 is not a route byte"):
        reverse(b"\x81\x06")


def test_reverse_route_leads_back_to_the_source() -> None:
    topology = clos(host_names(16), 8)
    for (source, target), route in up_down(topology).table.items():
        assert path(topology, target, reverse(route))[-1].target.node == source


def test_path_lists_every_channel_and_determines_the_route() -> None:
    topology = ring(3)
    taken = path(topology, "h0", bytes([0x83, 0xBE]))
    assert [str(c) for c in taken] == ["h0.0->s0.0", "s0.3->s1.2", "s1.0->h1.0"]
    assert route_of(taken) == bytes([0x83, 0xBE])


FAILS = {
    "empty": (b"", "it ends inside switch 's0' (entered at port 0); add the byte for that switch"),
    "too short": (b"\x83", "it ends inside switch 's1' (entered at port 2); add the byte for that switch"),
    "too long": (b"\x83\xbe\x80", "it arrives at host 'h1' with 1 route byte left; drop them"),
    "much too long": (b"\x83\xbe\x80\x80", "it arrives at host 'h1' with 2 route bytes left; drop them"),
    "no port": (b"\x84", "byte 1 (0x84) leads from port 0 of 's0' to port 4; that switch has ports 0 to 3"),
    "before port 0": (b"\xbf", "byte 1 (0xBF) leads from port 0 of 's0' to port -1; that switch has ports 0 to 3"),
    "no cable": (b"\x81", "byte 1 (0x81) leads to port 1 of 's0', where no cable is; cabled ports: 0, 2, 3"),
    "on from no cable": (
        b"\x81\x82\xbe",
        "byte 1 (0x81) leads to port 1 of 's0', where no cable is; cabled ports: 0, 2, 3",
    ),
    "no route byte": (
        b"\x83\x06",
        "byte 2 is 0x06; a route byte is 80 to 8F (up to 15 ports on) or B1 to BF (up to 15 back)",
    ),
}


@pytest.mark.parametrize(("route", "text"), FAILS.values(), ids=FAILS.keys())
def test_route_to_nowhere_is_rejected(route: bytes, text: str) -> None:
    with pytest.raises(RouteError) as error:
        verify(ring(3), ("h0", "h1"), route)
    assert str(error.value) == f"route to nowhere, 'h0' to 'h1': {text}"
    assert error.value.pair == ("h0", "h1")
    with pytest.raises(RouteError, match=re.escape(text)):
        DependencyGraph(ring(3), Routes({("h0", "h1"): route}))


def test_route_to_another_host_is_rejected() -> None:
    with pytest.raises(RouteError) as error:
        verify(ring(3), ("h0", "h2"), b"\x83\xbe")
    text = "route arrives at another host, 'h0' to 'h2': 83 BE leads to 'h1'; correct its bytes"
    assert str(error.value) == text


def test_missing_route_is_rejected() -> None:
    topology = single_switch(("a", "b"))
    with pytest.raises(RouteError) as error:
        check_routes(topology, Routes({("a", "b"): b"\x81"}))
    assert str(error.value) == "route missing: no route leads from 'b' to 'a'; add it to the line of its source"


def test_cycle_of_a_ring_is_named_link_by_link() -> None:
    topology = ring(3)
    with pytest.raises(RouteError) as error:
        check_routes(topology, clockwise(topology))
    assert str(error.value) == (
        "cyclic routes: packets can wait for each other in a circle: s0.3->s1.2 (then h0 to h2), "
        "s1.3->s2.2 (then h1 to h0), s2.3->s0.2 (then h2 to h1); "
        "use up*/down* routes (ROUTES COMPUTED) or break the cycle at one link"
    )


def test_cyclic_routes_can_be_allowed() -> None:
    topology = ring(3)
    check_routes(topology, clockwise(topology), allow_cycles=True)


@pytest.mark.parametrize("switches", [3, 4, 7])
def test_dependency_cycle_of_a_ring_is_the_whole_ring(switches: int) -> None:
    topology = ring(switches)
    cycle = find_cycle(topology, clockwise(topology))
    assert {c.source.node for c in cycle} == {f"s{i}" for i in range(switches)}
    for held, wanted in zip(cycle, (*cycle[1:], cycle[0]), strict=True):
        assert held.target.node == wanted.source.node


def has_cycle(graph: DependencyGraph) -> bool:
    """Independent of the search in the model: remove channels without waits until none is left."""
    waits: dict[Channel, set[Channel]] = {channel: set(then) for channel, then in graph.next.items()}
    while True:
        free = {c for c, then in waits.items() if not then & waits.keys()}
        if not free:
            return bool(waits)
        waits = {c: then for c, then in waits.items() if c not in free}


@given(st.integers(3, 6), st.data())
def test_cycles_are_found_exactly_if_they_exist(switches: int, data: st.DataObject) -> None:
    topology = ring(switches)
    pairs = data.draw(st.sets(st.sampled_from(sorted(clockwise(topology).table))))
    routes = Routes({pair: clockwise(topology).table[pair] for pair in sorted(pairs)})
    graph = DependencyGraph(topology, routes)
    assert bool(graph.cycle) == has_cycle(graph)
    for held, wanted in zip(graph.cycle, (*graph.cycle[1:], *graph.cycle[:1]), strict=True):
        assert wanted in graph.next[held]
