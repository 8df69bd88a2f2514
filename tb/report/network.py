"""Picture of a cluster's network as SVG: switches, hosts and cables in the colours of the page.

Switches are in rows by their distance from the hosts, hosts below. If every switch has hosts (a ring, a torus),
switches form a circle with the hosts outside. Parallel cables form one broader line.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from itertools import groupby
from math import cos, pi, sin

from pymodels.topology import Topology

WIDTH, ROW, CIRCLE, MARGIN = 720, 90, 520, 24
"""Sizes in CSS pixels: width of the picture, height of a row, size of a circular picture, margin."""
NAMED_SWITCHES, NAMED_HOSTS = 16, 16
"""Maximum numbers of switches in a row and of hosts with visible names; other names appear under the pointer."""
MANY_HOSTS = 100
"""Number of hosts from which their dots are small."""
Place = tuple[float, float]


def picture(topology: Topology, label: str) -> str:
    """Return the network as an `<svg>` element."""
    levels = distances(topology)
    rows = [[name for name in levels if levels[name] == level] for level in range(max(levels.values(), default=0) + 1)]
    around = len(rows) == 1 and len(rows[0]) > 2
    places = on_a_circle(topology, rows[0]) if around else in_rows(topology, rows)
    height = CIRCLE if around else ROW * len(rows) + 2 * MARGIN
    parts = [f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(label)}" font-size="10">']
    parts += [*_cables(topology, places), *_nodes(topology, places, max(map(len, rows)))]
    return "\n".join([*parts, "</svg>"])


def distances(topology: Topology) -> dict[str, int]:
    """Return the number of cables from each switch to the nearest switch with a host, in the order of the switches."""
    with_hosts = {topology.attachment(host).node for host in topology.hosts}
    found = {switch.name: 0 for switch in topology.switches if switch.name in with_hosts}
    todo = deque(found)
    while todo:
        here = todo.popleft()
        for end in topology.cabled(here):
            there = topology.peers[end].node
            if not topology.is_host(there) and there not in found:
                found[there] = found[here] + 1
                todo.append(there)
    return {switch.name: found[switch.name] for switch in topology.switches if switch.name in found}


def _by_switch(topology: Topology, switches: Sequence[str]) -> list[str]:
    """Return the hosts in the order of their switches and ports."""
    order = {name: number for number, name in enumerate(switches)}
    at = {host: topology.attachment(host) for host in topology.hosts}
    return sorted(at, key=lambda host: (order[at[host].node], at[host].port))


def in_rows(topology: Topology, rows: Sequence[Sequence[str]]) -> dict[str, Place]:
    """Return the position of each node: the most distant switches on top, the hosts below."""
    places = {}
    for level, row in enumerate([_by_switch(topology, rows[0]), *rows]):
        y = MARGIN + ROW * (len(rows) - level)
        for number, name in enumerate(row):
            places[name] = (WIDTH * (number + 0.5) / len(row), float(y))
    return places


def on_a_circle(topology: Topology, switches: Sequence[str]) -> dict[str, Place]:
    """Return the position of each node: switches on a circle, their hosts outside."""

    def place(turn: float, radius: float) -> Place:
        return WIDTH / 2 + radius * sin(2 * pi * turn), CIRCLE / 2 - radius * cos(2 * pi * turn)

    outer = CIRCLE / 2 - MARGIN
    places = {name: place(number / len(switches), 0.7 * outer) for number, name in enumerate(switches)}
    hosts = groupby(_by_switch(topology, switches), key=lambda host: topology.attachment(host).node)
    for switch, group in hosts:
        names = list(group)
        for number, name in enumerate(names):
            aside = (number + 0.5) / len(names) - 0.5
            places[name] = place((switches.index(switch) + 0.8 * aside) / len(switches), outer)
    return places


def _cables(topology: Topology, places: Mapping[str, Place]) -> Iterator[str]:
    sides = Counter(tuple(sorted((link.a.node, link.b.node))) for link in topology.links)
    for (one, other), count in sides.items():
        (x1, y1), (x2, y2) = places[one], places[other]
        title = f"<title>{escape(one)} to {escape(other)}{f', {count} cables' if count > 1 else ''}</title>"
        line = f'x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
        yield f'<line {line} stroke="var(--ink)" stroke-opacity="0.3" stroke-width="{count}">{title}</line>'


def _nodes(topology: Topology, places: Mapping[str, Place], widest: int) -> Iterator[str]:
    broad, radius = min(30.0, 0.8 * WIDTH / widest), 3 if len(topology.hosts) < MANY_HOSTS else 1
    for name, (x, y) in places.items():
        title = f"<title>{escape(name)}</title>"
        if topology.is_host(name):
            yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" fill="var(--c1)">{title}</circle>'
            named = len(topology.hosts) <= NAMED_HOSTS
        else:
            box = f'x="{x - broad / 2:.1f}" y="{y - 7:.1f}" width="{broad:.1f}" height="14" rx="2"'
            yield f'<rect {box} fill="var(--c0)">{title}</rect>'
            named = widest <= NAMED_SWITCHES
        if named:
            above = 17 if topology.is_host(name) else -11
            yield f'<text x="{x:.1f}" y="{y + above:.1f}" text-anchor="middle" fill="var(--ink)">{escape(name)}</text>'
