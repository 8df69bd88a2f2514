"""Checked topology from the lines SWITCH and LINK and the host map.

Hosts in the host map need no LINK: a physical ID is a switch port, counted through all switches in order. Without
SWITCH lines there is one switch, the smallest with all ports of the map.
"""

from __future__ import annotations

from pymodels.builders import smallest_switch
from pymodels.config.grammar import RawCluster, RawHost
from pymodels.config.lines import Line, check_name, integer, number
from pymodels.config.model import NETWORK_CARD
from pymodels.config.tables import Place
from pymodels.errors import nearest
from pymodels.topology import SWITCH_SIZES, End, Link, Switch, Topology, TopologyError, check_link, port_used_twice


class Network:
    """Collection of cables with their lines, checked as they are added."""

    def __init__(self, raw: RawCluster, used: list[RawHost], host_map: dict[str, Place]) -> None:
        self.raw = raw
        self.used = used
        self.host_map = host_map
        self.known_hosts = [h.name for h in raw.hosts] + [
            name for name in host_map if name not in {h.name for h in raw.hosts}
        ]
        self.switches = self._switches()
        self.links: dict[End, tuple[Link, Line]] = {}
        self.frame = Topology(self.switches, tuple(self.known_hosts), ())

    def topology(self) -> Topology:
        """Return the checked network of the hosts in use. Raises ConfigError for the first mistake."""
        for line in self.raw.repeated["LINK"]:
            self._add(self._link(line), line)
        self._room()
        for name, place in self.host_map.items():
            self._place(name, place)
        for host in self.used:
            self._connected(host)
        cables = list(dict.fromkeys(link for link, _ in self.links.values()))
        absent = set(self.known_hosts) - {host.name for host in self.used}
        links = tuple(k for k in cables if k.a.node not in absent and k.b.node not in absent)
        topology = Topology(self.switches, tuple(h.name for h in self.used), links)
        try:
            topology.check()
        except TopologyError as error:
            line = next((h.line for h in self.used if h.name == error.subject), self.raw.line)
            raise line.error(error.what, error.cause, error.remedy) from None
        return topology

    def _switches(self) -> tuple[Switch, ...]:
        switches: dict[str, Switch] = {}
        for line in self.raw.repeated["SWITCH"]:
            name = check_name(line, line.words[1], "switch")
            if name in switches or name in self.known_hosts:
                raise line.error(f"duplicate name {name!r}", "another switch or host carries it", "rename one of them")
            ports = integer(line, line.words[2], f"the ports of switch {name!r}", 1, 1 << 16)
            if ports not in SWITCH_SIZES:
                raise line.error(
                    "value out of range", f"switch {name!r} has {ports} ports", "switches have 4, 8 or 16 ports"
                )
            switches[name] = Switch(name, ports)
        needed = max([len(self.used), *(place.pnn + 1 for place in self.host_map.values())])
        return tuple(switches.values()) or (Switch("s0", smallest_switch(needed)),)

    def _link(self, line: Line) -> Link:
        _, a, port_a, b, port_b, *rest = line.words
        ends = [
            End(node, integer(line, port, f"the port of {node!r}", 0, 1 << 16))
            for node, port in ((a, port_a), (b, port_b))
        ]
        metres = number(line, rest[0], "the length of the cable", "metres") if rest else None
        return Link(ends[0], ends[1], metres)

    def _add(self, link: Link, line: Line) -> None:
        try:
            check_link(link, self.frame.ports, self.known_hosts)
        except TopologyError as error:
            raise line.error(error.what, error.cause, error.remedy) from None
        for end in (link.a, link.b):
            if end in self.links:
                other, where = self.links[end]
                twice = port_used_twice(end, link, other)
                raise line.error(twice.what, f"{twice.cause} ({where.place})", twice.remedy)
            self.links[end] = (link, line)

    def _room(self) -> None:
        """Raise ConfigError, at the first excess host, if the switches have too few ports."""
        ports = sum(s.ports for s in self.switches)
        between = sum(
            not self.frame.is_host(end.node) and not self.frame.is_host(self._far(end).node) for end in self.links
        )
        if len(self.used) > ports - between:
            cause = f"{len(self.used)} hosts, but the switches have {ports} ports, {between} of them between switches"
            remedy = "declare larger or further switches, or lower NUM_NODES"
            raise self.used[ports - between].line.error("more hosts than ports", cause, remedy)

    def _far(self, end: End) -> End:
        link, _ = self.links[end]
        return link.b if link.a == end else link.a

    def _place(self, name: str, place: Place) -> None:
        port = self.frame.port_at(place.pnn)
        if port is None:
            cause = f"the physical ID of {name!r} is {place.pnn}"
            last = sum(s.ports for s in self.switches) - 1
            raise place.line.error("value out of range", cause, f"the switches have ports 0 to {last}; add a SWITCH")
        own = End(name, 0)
        if own not in self.links:
            self._add(Link(own, port), place.line)
        elif self._far(own) != port:
            cable = f"{self.links[own][1].place} cables it to {self._far(own)}"
            cause = f"physical ID {place.pnn} of {name!r} is port {port}, but {cable}"
            raise place.line.error("physical ID disagrees", cause, f"write {self.frame.running_port(self._far(own))}")

    def _connected(self, host: RawHost) -> None:
        what = f"unconnected host {host.name!r}"
        if NETWORK_CARD not in host.cards:
            raise host.line.error(what, f"it does not use {NETWORK_CARD}", f"add USE {NETWORK_CARD}")
        if End(host.name, 0) not in self.links:
            hint = nearest(host.name, set(self.host_map) - {h.name for h in self.raw.hosts})
            mapped = f"; in the host map, {hint}" if hint.startswith("did") else ""
            remedy = f"add LINK {host.name} 0 <switch> <port> or a line to the host map{mapped}"
            raise host.line.error(what, "it has no LINK and no line in the host map", remedy)
