"""Network as a graph of switches, hosts, and cables between their ports.

A cable end is `(node, port)`. A host has one port, 0 (its NIC). Switch ports also have a running number through all
switches in the order of declaration: the physical ID of GRIM's host map (readings B10; the numbering through all
switches is ours).
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from pymodels.errors import EXIT_CONFIGURATION, SanlabError, nearest
from pymodels.numerals import is_whole

SWITCH_SIZES = (4, 8, 16)
"""Port counts of the crossbars that exist in RTL."""
MAX_METRES = 200.0
"""Longest cable: 200 m of fibre (fact sheet 1.1)."""


class TopologyError(SanlabError):
    """Invalid network. `subject` is the node, link or pair of hosts at fault."""

    exit_code = EXIT_CONFIGURATION

    def __init__(self, what: str, cause: str, remedy: str, subject: object = None) -> None:
        super().__init__(what, cause, remedy)
        self.subject = subject


class End(NamedTuple):
    """End of a cable: a port of a node."""

    node: str
    port: int

    def __str__(self) -> str:
        return f"{self.node}.{self.port}"


@dataclass(frozen=True)
class Switch:
    """Crossbar switch with ports 0 to `ports` - 1."""

    name: str
    ports: int


@dataclass(frozen=True)
class Link:
    """Full-duplex cable between two ports. Without `metres` it has the default length of the profile."""

    a: End
    b: End
    metres: float | None = None

    def config_line(self) -> str:
        """Return the cable as a line `LINK` of the configuration format."""
        length = "" if self.metres is None else f" {self.metres:g}"
        return f"LINK {self.a.node} {self.a.port} {self.b.node} {self.b.port}{length}"


class Channel(NamedTuple):
    """Direction of a cable, which a packet holds while it is in flight."""

    source: End
    target: End

    def __str__(self) -> str:
        return f"{self.source}->{self.target}"


@dataclass(frozen=True)
class Topology:
    """Switches, hosts (by VNN) and cables. Call `check` before use; the functions of `pymodels.builders` have done
    so.
    """

    switches: tuple[Switch, ...]
    hosts: tuple[str, ...]
    links: tuple[Link, ...]

    @cached_property
    def ports(self) -> dict[str, int]:
        """Number of ports of every node, switches first."""
        return {**{s.name: s.ports for s in self.switches}, **dict.fromkeys(self.hosts, 1)}

    @cached_property
    def peers(self) -> dict[End, End]:
        """Other end of the cable at each cabled port."""
        return {x: y for link in self.links for x, y in ((link.a, link.b), (link.b, link.a))}

    @cached_property
    def first_port(self) -> dict[str, int]:
        """Running number of port 0 of each switch."""
        firsts = itertools.accumulate((switch.ports for switch in self.switches), initial=0)
        return {switch.name: first for switch, first in zip(self.switches, firsts, strict=False)}

    def is_host(self, node: str) -> bool:
        """Return True if `node` is a host, False if it is a switch."""
        return node not in self.first_port

    def attachment(self, host: str) -> End:
        """Return the switch port that a host is cabled to. Raises KeyError for an unconnected host."""
        return self.peers[End(host, 0)]

    def running_port(self, end: End) -> int:
        """Return the running number (physical ID) of a switch port."""
        return self.first_port[end.node] + end.port

    def port_at(self, running: int) -> End | None:
        """Return the switch port with a running number, or None if there is none."""
        for switch in self.switches:
            if 0 <= running - self.first_port[switch.name] < switch.ports:
                return End(switch.name, running - self.first_port[switch.name])
        return None

    def port(self, text: str) -> End:
        """Return the cabled port that a text denotes: `spine0.2`, or `node00.0` for a host. Raises TopologyError if
        there is none.
        """
        node, dot, number = text.rpartition(".")
        if not dot or node not in self.ports:
            remedy = nearest(node or text, self.ports)
            raise TopologyError("unknown port", f"{text!r} is not a port of a switch or host", remedy, text)
        end = End(node, int(number)) if is_whole(number) else End(node, -1)
        if end not in self.peers:
            known = ", ".join(str(cabled) for cabled in self.cabled(node))
            raise TopologyError("unknown port", f"no cable ends at {text!r}", f"cabled: {known}", text)
        return end

    def present(self, switch: str) -> int:
        """Return the bit mask of the cabled ports of a switch (`present` of the RTL crossbar)."""
        return sum(1 << port for port in range(self.ports[switch]) if End(switch, port) in self.peers)

    def check(self) -> None:
        """Raise TopologyError for the first invalid name, switch size or cable, or the first unconnected host."""
        self._check_names()
        used: dict[End, Link] = {}
        for link in self.links:
            check_link(link, self.ports, self.hosts)
            for end in (link.a, link.b):
                if end in used:
                    raise port_used_twice(end, link, used[end])
                used[end] = link
        for host in self.hosts:
            if End(host, 0) not in used:
                raise TopologyError(
                    f"unconnected host {host!r}", "it has no cable", f"add LINK {host} 0 <switch> <port>", host
                )
        self._check_one_piece()

    def _check_names(self) -> None:
        seen: set[str] = set()
        for name in (*(s.name for s in self.switches), *self.hosts):
            if name in seen:
                raise TopologyError(f"duplicate name {name!r}", "two nodes have it", "rename one of them", name)
            seen.add(name)
        for switch in self.switches:
            if switch.ports not in SWITCH_SIZES:
                cause = f"switch {switch.name!r} has {switch.ports} ports"
                raise TopologyError("value out of range", cause, "switches have 4, 8 or 16 ports", switch.name)

    def _check_one_piece(self) -> None:
        if not self.hosts:
            return
        reached, todo = {self.hosts[0]}, [self.hosts[0]]
        while todo:
            node = todo.pop()
            new = {self.peers[e].node for e in self.cabled(node)} - reached
            reached |= new
            todo += sorted(new)
        for host in self.hosts:
            if host not in reached:
                cause = f"no cables lead from {self.hosts[0]!r} to it"
                raise TopologyError(
                    f"unconnected host {host!r}", cause, "add a LINK between the two parts of the network", host
                )

    def cabled(self, node: str) -> list[End]:
        """Return the cabled ports of a node, by port number."""
        return [end for end in (End(node, port) for port in range(self.ports[node])) if end in self.peers]

    def config_lines(self, mapped: bool = False) -> list[str]:
        """Return the lines SWITCH and LINK of the configuration format.

        Args:
            mapped: True to leave out the cables of hosts, which a host map contains.
        """
        plain = {
            link for link in self.links if link.metres is None and self.is_host(link.a.node) | self.is_host(link.b.node)
        }
        links = [link.config_line() for link in self.links if not (mapped and link in plain)]
        return [f"SWITCH {s.name} {s.ports}" for s in self.switches] + links


def check_link(link: Link, ports: dict[str, int], hosts: Sequence[str]) -> None:
    """Raise TopologyError for a cable with an unknown end, an invalid port or an invalid length."""
    for end in (link.a, link.b):
        if end.node not in ports:
            cause = f"LINK names {end.node!r}, which is neither a HOST nor a SWITCH"
            raise TopologyError("unknown host or switch", cause, nearest(end.node, ports), link)
        if not 0 <= end.port < ports[end.node]:
            kind = "host" if end.node in hosts else "switch"
            cause = f"{kind} {end.node!r} has no port {end.port}"
            raise TopologyError("value out of range", cause, f"its ports are 0 to {ports[end.node] - 1}", link)
    if link.a.node in hosts and link.b.node in hosts:
        cause = f"it joins the hosts {link.a.node!r} and {link.b.node!r}"
        raise TopologyError("cable without a switch", cause, "put a SWITCH between them", link)
    if link.a.node == link.b.node:
        raise TopologyError(
            "cable loops back", f"both ends are on {link.a.node!r}", "lead one end to another switch or host", link
        )
    if link.metres is not None and not 0 <= link.metres <= MAX_METRES:
        cause = f"a cable of {link.metres:g} metres"
        raise TopologyError("value out of range", cause, f"cables have 0 to {MAX_METRES:g} metres", link)


def port_used_twice(end: End, link: Link, other: Link) -> TopologyError:
    """Return the error for a port in which two cables end."""
    far = other.b if other.a == end else other.a
    return TopologyError(
        "port used twice", f"port {end.port} of {end.node!r} already leads to {far}", "use a free port", link
    )
