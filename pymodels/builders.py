"""Builders of regular networks for a list of hosts: single switch, two cascaded switches, tree, Clos network (leaf and
spine), three-level fat tree, ring, torus, SP switch board.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from pymodels.topology import SWITCH_SIZES, End, Link, Switch, Topology, TopologyError


def host_names(count: int) -> tuple[str, ...]:
    """Return `count` host names: node00, node01, ..."""
    return tuple(f"node{i:02d}" for i in range(count))


def smallest_switch(ports: int) -> int:
    """Return the smallest switch size with at least `ports` ports, or the largest size if none is large enough."""
    return next((size for size in SWITCH_SIZES if size >= ports), SWITCH_SIZES[-1])


def single_switch(hosts: Sequence[str], ports: int = 8, metres: float | None = None) -> Topology:
    """Return a network of one switch, with host i on port i."""
    _fits(len(hosts), ports, f"one switch of {ports} ports")
    links = tuple(Link(End(host, 0), End("s0", i), metres) for i, host in enumerate(hosts))
    return _checked((Switch("s0", ports),), hosts, links)


def tree(hosts: Sequence[str], ports: int = 8, metres: float | None = None) -> Topology:
    """Return a tree of switches for any number of hosts, spread evenly over the leaves; the last port of a switch leads
    up.
    """
    if len(hosts) <= ports:
        return single_switch(hosts, ports, metres)
    switches: list[Switch] = []
    links: list[Link] = []
    below: list[End] = [End(host, 0) for host in hosts]
    while len(below) > 1:
        count = 1 if len(below) <= ports else -(-len(below) // (ports - 1))
        level = [Switch(f"s{len(switches) + i}", ports) for i in range(count)]
        for switch, children in zip(level, _shares(below, count), strict=True):
            links += [Link(child, End(switch.name, port), metres) for port, child in enumerate(children)]
        switches += level
        below = [End(switch.name, ports - 1) for switch in level]
    return _checked(tuple(switches), hosts, tuple(links))


def cascade(hosts: Sequence[str], ports: int = 8, metres: float | None = None) -> Topology:
    """Return two switches joined by a cable between their last ports ("cascaded" in Netfinity SP: paper 001, 3.1.1)."""
    room = ports - 1
    _fits(len(hosts), 2 * room, f"two cascaded switches of {ports} ports")
    links = [Link(End(host, 0), End(f"s{i // room}", i % room), metres) for i, host in enumerate(hosts)]
    links.append(Link(End("s0", room), End("s1", room), metres))
    return _checked((Switch("s0", ports), Switch("s1", ports)), hosts, tuple(links))


def clos(hosts: Sequence[str], ports: int = 8, metres: float | None = None) -> Topology:
    """Return a leaf-and-spine network with full bisection for up to `ports` * `ports` / 2 hosts.

    Half of a leaf's ports lead up. The number of spines is the smallest that takes all up-links evenly; several cables
    may join the same leaf and spine.
    """
    half = ports // 2
    _fits(len(hosts), ports * half, f"leaf and spine of {ports}-port switches")
    leaves = max(1, -(-len(hosts) // half))
    spines = next(s for s in range(1, half + 1) if half % s == 0 and leaves * half // s <= ports)
    each = half // spines
    leaf = [Switch(f"leaf{i}", ports) for i in range(leaves)]
    spine = [Switch(f"spine{i}", ports) for i in range(spines)]
    down = [Link(End(host, 0), End(f"leaf{i // half}", i % half), metres) for i, host in enumerate(hosts)]
    up = [
        Link(End(f"leaf{i}", half + j), End(f"spine{j % spines}", i * each + j // spines), metres)
        for i in range(leaves)
        for j in range(half)
    ]
    return _checked((*leaf, *spine), hosts, (*down, *up))


def fat_tree(hosts: Sequence[str], ports: int = 8, metres: float | None = None) -> Topology:
    """Return a three-level fat tree of equal switches for up to `ports` ** 3 / 4 hosts (Al-Fares, Loukissas and Vahdat
    2008).

    A pod has `ports` / 2 edge switches and as many aggregation switches, fully connected; core switches join the pods.
    The number of core switches is the smallest that takes all up-links evenly, so that several cables may join two
    switches.
    """
    half = ports // 2
    _fits(len(hosts), ports * half * half, f"a fat tree of {ports}-port switches")
    pods = max(1, -(-len(hosts) // (half * half)))
    columns = next(c for c in range(1, half + 1) if half % c == 0 and pods * half // c <= ports)
    each = half // columns
    links = [
        Link(End(host, 0), End(f"edge{i // (half * half)}_{i // half % half}", i % half), metres)
        for i, host in enumerate(hosts)
    ]
    for pod in range(pods):
        for row in range(half):
            links += [Link(End(f"edge{pod}_{i}", half + row), End(f"up{pod}_{row}", i), metres) for i in range(half)]
            links += [
                Link(
                    End(f"up{pod}_{row}", half + j), End(f"core{row}_{j % columns}", pod * each + j // columns), metres
                )
                for j in range(half)
            ]
    names = [f"{kind}{pod}_{i}" for kind in ("edge", "up") for pod in range(pods) for i in range(half)]
    names += [f"core{row}_{column}" for row in range(half) for column in range(columns)]
    return _checked(tuple(Switch(name, ports) for name in names), hosts, tuple(links))


def ring(hosts: Sequence[str], ports: int = 8, metres: float | None = None) -> Topology:
    """Return a ring of switches joined by their last two ports, with the hosts spread evenly."""
    return torus(hosts, ports, metres, rows=1)


def torus(hosts: Sequence[str], ports: int = 8, metres: float | None = None, rows: int | None = None) -> Topology:
    """Return a torus of switches with the hosts spread evenly; nearly square unless `rows` is given.

    The last ports of a switch lead to its neighbours: two within the row and, with several rows, two within the column.
    """
    around = 2 if rows == 1 else 4
    if ports <= around:
        cause = f"{around} of a switch's {ports} ports lead to other switches"
        raise TopologyError("no port for hosts", cause, "use larger switches")
    count = max(-(-len(hosts) // (ports - around)), 2 if rows == 1 else 4)
    high = rows or int(count**0.5)
    wide = -(-count // high)
    names = [[f"s{row}_{column}" for column in range(wide)] for row in range(high)]
    at = [name for row in names for name in row]
    shares = _shares([End(host, 0) for host in hosts], len(at))
    links = [
        Link(end, End(switch, port), metres)
        for switch, ends in zip(at, shares, strict=True)
        for port, end in enumerate(ends)
    ]
    for row, column in itertools.product(range(high), range(wide)):
        beside, below = names[row][(column + 1) % wide], names[(row + 1) % high][column]
        links.append(Link(End(names[row][column], ports - 1), End(beside, ports - 2), metres))
        if high > 1:
            links.append(Link(End(names[row][column], ports - 3), End(below, ports - 4), metres))
    return _checked(tuple(Switch(name, ports) for name in at), hosts, tuple(links))


def board(hosts: Sequence[str], chips: int = 4, ports: int = 8, metres: float | None = None) -> Topology:
    """Return a switch board of the SP: `chips` node chips and as many link chips, fully connected.

    Hosts are assigned to the node chips in turn. The first `chips` hosts therefore have `chips` routes to each other,
    one through each link chip.
    """
    _fits(len(hosts), chips * (ports - chips), f"a board of {chips} node chips with {ports} ports")
    down = [Link(End(host, 0), End(f"chip{i % chips}", i // chips), metres) for i, host in enumerate(hosts)]
    up = [
        Link(End(f"chip{i}", ports - chips + j), End(f"link{j}", i), metres) for i in range(chips) for j in range(chips)
    ]
    switches = tuple(Switch(f"{kind}{i}", ports) for kind in ("chip", "link") for i in range(chips))
    return _checked(switches, hosts, (*down, *up))


def _shares(items: Sequence[End], count: int) -> list[Sequence[End]]:
    """Return `items` cut into `count` runs whose lengths differ by at most one."""
    bounds = [len(items) * i // count for i in range(count + 1)]
    return [items[a:b] for a, b in itertools.pairwise(bounds)]


def _fits(hosts: int, room: int, where: str) -> None:
    if hosts > room:
        raise TopologyError(
            "more hosts than ports",
            f"{hosts} hosts, but {where} takes {room}",
            f"use larger switches, up to {SWITCH_SIZES[-1]} ports, or a fat tree, which takes ports ** 3 / 4",
        )


def _checked(switches: tuple[Switch, ...], hosts: Sequence[str], links: tuple[Link, ...]) -> Topology:
    topology = Topology(switches, tuple(hosts), links)
    topology.check()
    return topology
