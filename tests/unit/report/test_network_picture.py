"""The picture of a network in a run's report.

Strategy: pictures of each regular shape are read as XML. They must show every switch and host once, with its name, and
every cable, side by side or alone. Rows must follow the levels of a tree, and a ring must be a circle. The page of a
cluster of 1,024 hosts must stay small enough for a browser.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from xml.etree import ElementTree as ET

import pytest

from pymodels.builders import clos, fat_tree, host_names, ring, single_switch, torus, tree
from pymodels.topology import End, Link, Topology
from tb.report.network import CIRCLE, MARGIN, WIDTH, distances, in_rows, on_a_circle, picture


def shown(topology: Topology) -> dict[str, list[str]]:
    """Return the titles of a picture by the kind of element."""
    found: dict[str, list[str]] = {}
    for element in ET.fromstring(picture(topology, "a network")):
        title = element.find("title")
        if title is not None and title.text:
            found.setdefault(element.tag, []).append(title.text)
    return found


@pytest.mark.parametrize("build", [clos, fat_tree, ring, torus, tree, single_switch])
def test_every_node_and_cable_is_shown_once(build: Callable[..., Topology]) -> None:
    topology = build(host_names(8), 8)
    found = shown(topology)
    assert sorted(found["rect"]) == sorted(switch.name for switch in topology.switches)
    assert sorted(found["circle"]) == sorted(topology.hosts)
    cables = Counter(title.partition(",")[0] for title in found["line"])
    assert cables == Counter({" to ".join(sorted((a.node, b.node))) for a, b, _ in map(parts, topology.links)})


def parts(link: Link) -> tuple[End, End, float | None]:
    return link.a, link.b, link.metres


def test_cables_side_by_side_are_one_broader_line() -> None:
    lines = ET.fromstring(picture(clos(host_names(8), 8), "")).iter("line")
    broad = {line.findtext("title"): line.get("stroke-width") for line in lines}
    assert broad["leaf0 to spine0, 4 cables"] == "4"
    assert broad["leaf0 to node00"] == "1"


def test_switches_of_a_fat_tree_are_drawn_in_three_rows_above_their_hosts() -> None:
    topology = fat_tree(host_names(16), 4)
    levels = distances(topology)
    assert Counter(levels.values()) == {0: 8, 1: 8, 2: 4}
    places = in_rows(topology, [[name for name in levels if levels[name] == level] for level in range(3)])
    assert places["core0_0"][1] < places["up0_0"][1] < places["edge0_0"][1] < places["node00"][1]
    assert places["edge0_0"][0] == (places["node00"][0] + places["node01"][0]) / 2


def test_switches_of_a_ring_are_drawn_on_a_circle_with_their_hosts_outside() -> None:
    topology = ring(host_names(12), 4)
    places = on_a_circle(topology, [switch.name for switch in topology.switches])
    away = {name: math.dist(place, (WIDTH / 2, CIRCLE / 2)) for name, place in places.items()}
    switches = {round(away[switch.name], 6) for switch in topology.switches}
    assert len(switches) == 1 and max(away.values()) <= CIRCLE / 2 - MARGIN + 1e-6
    assert all(away[host] > max(switches) for host in topology.hosts)


def test_the_picture_of_1024_hosts_is_small_enough_for_a_page() -> None:
    assert len(picture(fat_tree(host_names(1024), 16), "")) < 1_000_000
