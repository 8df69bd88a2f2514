"""Networks whose shortest routes deadlock, and cyclic routes on them."""

from __future__ import annotations

from pymodels.routes import Routes, encode
from pymodels.topology import End, Link, Switch, Topology


def ring(switches: int, ports: int = 4) -> Topology:
    """`switches` switches in a ring, clockwise from port 3 to port 2, one host on port 0 of each."""
    names = [f"s{i}" for i in range(switches)]
    hosts = [f"h{i}" for i in range(switches)]
    links = [Link(End(h, 0), End(s, 0)) for h, s in zip(hosts, names, strict=True)]
    links += [Link(End(names[i], 3), End(names[(i + 1) % switches], 2)) for i in range(switches)]
    topology = Topology(tuple(Switch(s, ports) for s in names), tuple(hosts), tuple(links))
    topology.check()
    return topology


def torus(side: int) -> Topology:
    """`side` x `side` 8-port switches, each cabled to its four neighbours, one host on port 0 of each."""
    spots = [(x, y) for x in range(side) for y in range(side)]
    links = [Link(End(f"h{x}_{y}", 0), End(f"s{x}_{y}", 0)) for x, y in spots]
    links += [Link(End(f"s{x}_{y}", 1), End(f"s{(x + 1) % side}_{y}", 2)) for x, y in spots]
    links += [Link(End(f"s{x}_{y}", 3), End(f"s{x}_{(y + 1) % side}", 4)) for x, y in spots]
    switches = tuple(Switch(f"s{x}_{y}", 8) for x, y in spots)
    topology = Topology(switches, tuple(f"h{x}_{y}" for x, y in spots), tuple(links))
    topology.check()
    return topology


def clockwise(topology: Topology) -> Routes:
    """Return routes around a ring in one direction, which form a cycle."""
    hosts = topology.hosts
    table = {}
    for i, a in enumerate(hosts):
        for j, b in enumerate(hosts):
            if a != b:
                steps = (j - i) % len(hosts)
                table[a, b] = bytes([encode(3), *[encode(1)] * (steps - 1), encode(-2)])
    return Routes(table)
