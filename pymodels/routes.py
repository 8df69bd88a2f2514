"""Myrinet source routes: encoding, tracing through a network, and deadlock analysis of route sets.

A route has one byte for each switch on the way, `0x80 | delta`. Delta is output port - input port as six-bit two's
complement (fact sheet 1.2). Routes are `bytes`, first switch first. A set of routes is deadlock-free when its channel
dependency graph has no cycle (Dally and Seitz 1987).

NICs end a path: a NIC stores arriving packets in its memory, and queues there what it forwards (copies of a multicast,
replies, ACKs). A packet that finds such a queue full is rejected and does not block the link. NICs that forward
therefore add no edges to the graph. A NIC that accepts no packet while it waits for its own link adds an edge from its
incoming to its outgoing channel. The message layer decides which NICs do (`firmware.layers.holds_link`).

A pair of hosts may have several routes, which a message layer uses in turn, packet by packet. Layers without support
for several routes use the first. The graph contains all of them.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from pymodels.errors import EXIT_CONFIGURATION, SanlabError
from pymodels.topology import Channel, End, Topology
from pymodels.walks import Ports, dependencies, walk

MAX_DELTA = 15
"""Maximum port distance, that of 16-port switches."""
Pair = tuple[str, str]
"""Names of source host and destination host."""


class RouteError(SanlabError):
    """Invalid route, or route set that can deadlock. `pair` is the pair of hosts of the route at fault, if there is
    one.
    """

    exit_code = EXIT_CONFIGURATION

    def __init__(self, what: str, cause: str, remedy: str, pair: Pair | None = None) -> None:
        super().__init__(what, cause, remedy)
        self.pair = pair


def encode(delta: int) -> int:
    """Return the route byte of a port distance. Raises ValueError outside -15..15."""
    if not -MAX_DELTA <= delta <= MAX_DELTA:
        raise ValueError(f"port distance {delta} is outside -{MAX_DELTA}..{MAX_DELTA}")
    return 0x80 | (delta & 0x3F)


def decode(byte: int) -> int | None:
    """Return the port distance of a route byte, or None if switches reject the byte."""
    if byte & 0xC0 != 0x80:
        return None
    delta = (byte & 0x3F) - ((byte & 0x20) << 1)
    return delta if -MAX_DELTA <= delta <= MAX_DELTA else None


def reverse(route: bytes) -> bytes:
    """Return the route back: distances negated, order reversed. Raises ValueError for an invalid route byte."""
    deltas = [decode(byte) for byte in reversed(route)]
    bad = [byte for byte in route if decode(byte) is None]
    if bad:
        raise ValueError(f"byte 0x{bad[0]:02X} is not a route byte")
    return bytes(encode(-delta) for delta in deltas if delta is not None)


def route_of(channels: Iterable[Channel]) -> bytes:
    """Return the route bytes of a path given as its channels, from host to host."""
    path = list(channels)
    return bytes(encode(out.source.port - into.target.port) for into, out in itertools.pairwise(path))


def path(topology: Topology, source: str, route: bytes) -> list[Channel]:
    """Return the channels of a packet from `source`, hop by hop. Raises RouteError at the first hop without a cable."""
    here = topology.attachment(source)
    taken = [Channel(End(source, 0), here)]
    for hop, byte in enumerate(route):
        if topology.is_host(here.node):
            rest = len(route) - hop
            raise _nowhere(
                f"it arrives at host {here.node!r} with {rest} route {'byte' if rest == 1 else 'bytes'} left",
                "drop them",
            )
        out = _output(topology, here, byte, hop)
        here = topology.peers[out]
        taken.append(Channel(out, here))
    if not topology.is_host(here.node):
        raise _nowhere(
            f"it ends inside switch {here.node!r} (entered at port {here.port})", "add the byte for that switch"
        )
    return taken


def _output(topology: Topology, here: End, byte: int, hop: int) -> End:
    """Return the switch port by which a packet that entered at `here` leaves."""
    delta = decode(byte)
    if delta is None:
        raise _nowhere(
            f"byte {hop + 1} is 0x{byte:02X}",
            "a route byte is 80 to 8F (up to 15 ports on) or B1 to BF (up to 15 back)",
        )
    out = End(here.node, here.port + delta)
    ports = topology.ports[here.node]
    if not 0 <= out.port < ports:
        step = f"byte {hop + 1} (0x{byte:02X}) leads from port {here.port} of {here.node!r} to port {out.port}"
        raise _nowhere(step, f"that switch has ports 0 to {ports - 1}")
    if out not in topology.peers:
        step = f"byte {hop + 1} (0x{byte:02X}) leads to port {out.port} of {here.node!r}, where no cable is"
        raise _nowhere(step, f"cabled ports: {', '.join(str(e.port) for e in topology.cabled(here.node))}")
    return out


def _nowhere(cause: str, remedy: str) -> RouteError:
    return RouteError("route to nowhere", cause, remedy)


def verify(topology: Topology, pair: Pair, route: bytes) -> list[Channel]:
    """Return the channels of a route from host to host. Raises RouteError, naming the pair, if the packet does not
    arrive at the destination.
    """
    source, target = pair
    try:
        taken = path(topology, source, route)
    except RouteError as error:
        raise RouteError(f"route to nowhere, {source!r} to {target!r}", error.cause, error.remedy, pair) from None
    reached = taken[-1].target.node
    if reached != target:
        what = f"route arrives at another host, {source!r} to {target!r}"
        raise RouteError(what, f"{route.hex(' ').upper()} leads to {reached!r}", "correct its bytes", pair)
    return taken


@dataclass(frozen=True)
class Routes:
    """Routes of a cluster.

    Attributes:
        table: Route bytes by (source host, destination host); the first route of pairs with several.
        computed: True if the routes were computed, False if the configuration gives them.
    """

    table: Mapping[Pair, bytes]
    computed: bool = False
    others: Mapping[Pair, tuple[bytes, ...]] = field(default_factory=dict)
    """Further routes of pairs with several, in order of use."""

    def between(self, source: str, target: str) -> bytes:
        """Return the first route from one host to another. Raises KeyError for an unknown pair."""
        return self.table[source, target]

    def ways(self, source: str, target: str) -> tuple[bytes, ...]:
        """Return all routes from one host to another, in order of use. Raises KeyError for an unknown pair."""
        return (self.table[source, target], *self.others.get((source, target), ()))

    def each(self) -> Iterator[tuple[Pair, bytes]]:
        """Yield every route with its pair of hosts."""
        for pair in self.table:
            yield from ((pair, route) for route in self.ways(*pair))

    @property
    def most(self) -> int:
        """Maximum number of routes of a pair; 1 for a cluster without pairs."""
        return max((1 + len(others) for others in self.others.values()), default=1)


class DependencyGraph:
    """Channel dependency graph of a route set: for each held channel, the channels that its packet may wait for.

    Args:
        topology: The network.
        routes: The route set.
        nics_hold: True if NICs accept no packet while they wait for their own link.
    """

    def __init__(self, topology: Topology, routes: Routes, nics_hold: bool = False) -> None:
        self.next: dict[Channel, dict[Channel, Pair]] = {}
        ports, each = Ports(topology), list(routes.each())
        if not each:
            return
        ends = np.array([[ports.hosts[host] for host in pair] for pair, _ in each], np.int64)
        taken = walk(ports, ends[:, 0], ends[:, 1], [route for _, route in each])
        if taken is None:  # find the invalid route
            for pair, route in each:
                verify(topology, pair, route)
            raise AssertionError("every route delivers alone, not all do together")
        into = ports.peer[ends[:, 0]] if nics_hold else None
        for held, wanted, first in zip(*(found.tolist() for found in dependencies(taken, into)), strict=True):
            self.next.setdefault(ports.channel(held), {})[ports.channel(wanted)] = each[first][0]

    @cached_property
    def cycle(self) -> tuple[Channel, ...]:
        """Return a cycle of channels, or an empty tuple if the graph has no cycle.

        Each channel of the cycle waits for the next, and the last for the first.
        """
        state: dict[Channel, int] = {}
        for start in self.next:
            trail: list[Channel] = []
            todo = [(start, 0)]
            while todo:
                channel, depth = todo.pop()
                for left in trail[depth:]:
                    state[left] = 2
                del trail[depth:]
                if state.get(channel) == 1:
                    return tuple(trail[trail.index(channel) :])
                if channel in state:
                    continue
                state[channel] = 1
                trail.append(channel)
                todo += [(n, depth + 1) for n in self.next.get(channel, ())]
            for left in trail:
                state[left] = 2
        return ()


def find_cycle(topology: Topology, routes: Routes) -> tuple[Channel, ...]:
    """Return one cycle of channel dependencies; empty if the set cannot deadlock. Raises RouteError for an invalid
    route.
    """
    return DependencyGraph(topology, routes).cycle


def check_routes(topology: Topology, routes: Routes, allow_cycles: bool = False, held_by: str = "") -> None:
    """Check that each pair of hosts has a valid route, and that the set cannot deadlock.

    Args:
        topology: The network.
        routes: The route set.
        allow_cycles: True to accept a set that can deadlock.
        held_by: Name of the option or layer that makes NICs accept no packet while they wait for their own link; empty
            if
            they do accept packets then.

    Raises:
        RouteError: A route is missing or invalid, or the set can deadlock.
    """
    for source in topology.hosts:
        for target in topology.hosts:
            if source != target and (source, target) not in routes.table:
                cause = f"no route leads from {source!r} to {target!r}"
                raise RouteError("route missing", cause, "add it to the line of its source", (source, target))
    graph = DependencyGraph(topology, routes, bool(held_by))
    if graph.cycle and not allow_cycles:
        raise _cyclic(graph, routes, held_by)


def _cyclic(graph: DependencyGraph, routes: Routes, held_by: str) -> RouteError:
    """Return the error for a route set that can deadlock, with its cycle channel by channel."""
    steps = list(zip(graph.cycle, (*graph.cycle[1:], graph.cycle[0]), strict=True))
    circle = ", ".join(f"{held} (then {' to '.join(graph.next[held][wanted])})" for held, wanted in steps)
    cause = f"packets can wait for each other in a circle: {circle}"
    last = graph.next[steps[-1][0]][steps[-1][1]]
    if held_by:
        cause = f"with {held_by} a NIC takes no packet while it waits for its link; {cause}"
        return RouteError("cyclic waits", cause, "leave that out, or take a study of deadlocks (grim_deadlock)", last)
    remedy = "use up*/down* routes (ROUTES COMPUTED) or break the cycle at one link"
    return RouteError("cyclic routes", cause, "give routes (ROUTING_MYRI)" if routes.computed else remedy, last)
