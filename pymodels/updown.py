"""Shortest up*/down* routes, deterministic and spread over equal ways.

A breadth-first spanning tree from a root switch gives each cable an up end: the end nearer to the root, or earlier in
the list at equal depth. A legal path goes up any number of times, then down any number of times, which excludes cycles
of waiting packets; `check_routes` verifies this as it does for given routes.

Among the shortest legal paths, the one whose channels carry the fewest routes so far is chosen, then the one with the
lowest ports. Further routes of a pair are chosen in the same way among the remaining paths. The root is the switch with
the shortest routes in total, then with the most alternatives, then the first in the list. In a Clos network it is a
leaf, so that all spines are used.

Paths are computed for pairs of switches, as a table of channels whose loads are summed at once.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Hashable, Iterable
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from pymodels.errors import nearest
from pymodels.routes import Pair, Routes, check_routes, encode
from pymodels.topology import Channel, Topology, TopologyError

T = TypeVar("T", bound=Hashable)
State = tuple[str, bool]
"""Switch, and True after the path has turned down."""
Ways = NDArray[np.int64]
"""Array with one column for each path, which holds its channel numbers in order; columns are sorted by output ports."""


class UpDown:
    """Up*/down* routing on one topology with one root switch. Raises TopologyError if the root is not a switch."""

    def __init__(self, topology: Topology, root: str) -> None:
        if root not in topology.first_port:
            raise TopologyError(
                "unknown switch", f"root {root!r} is not a switch", nearest(root, topology.first_port), root
            )
        self.topology = topology
        self.out = {s.name: _channels(topology, s.name) for s in topology.switches}
        self.rank = self._ranks(root)
        self.channels = [channel for out in self.out.values() for channel in out]
        """Channels between switches, by number."""
        self.number = {channel: number for number, channel in enumerate(self.channels)}
        self.load = np.zeros(len(self.channels), np.int64)
        """Number of routes over each channel, by channel number."""
        states = [(switch, down) for switch in self.rank for down in (False, True)]
        self.moves = {state: self._moves(state) for state in states}
        into: dict[State, list[State]] = {}
        for state in states:
            for _, after in self.moves[state]:
                into.setdefault(after, []).append(state)
        targets = dict.fromkeys(topology.attachment(host).node for host in topology.hosts)
        self.hops = {target: _distances([(target, False), (target, True)], into) for target in targets}
        """Hops from each state to each target switch by legal moves; the outer key is the target."""
        self._ways: dict[tuple[State, str], Ways] = {}

    def _ranks(self, root: str) -> dict[str, tuple[int, int]]:
        """Return depth below the root and position in the list of every switch that the root reaches; less is further
        up.
        """
        order = {s.name: i for i, s in enumerate(self.topology.switches)}
        near = {switch: [channel.target.node for channel in out] for switch, out in self.out.items()}
        return {switch: (depth, order[switch]) for switch, depth in _distances([root], near).items()}

    def _moves(self, state: State) -> list[tuple[Channel, State]]:
        """Return the legal next channels of a state, each with the state that it leads to."""
        switch, down = state
        moves = []
        for channel in self.out[switch]:
            descends = self.rank[channel.target.node] > self.rank[switch]
            if descends or not down:
                moves.append((channel, (channel.target.node, descends)))
        return moves

    def ways(self, state: State, target: str) -> Ways:
        """Return the shortest legal paths from a state to a target switch."""
        if (state, target) not in self._ways:
            hops = self.hops[target]
            found = [np.empty((0, 1), np.int64)] if not hops[state] else []
            for channel, after in self.moves[state] if hops[state] else ():
                if hops.get(after) == hops[state] - 1:
                    rest = self.ways(after, target)
                    found.append(np.concatenate([np.full((1, rest.shape[1]), self.number[channel]), rest]))
            self._ways[state, target] = np.concatenate(found, axis=1)
        return self._ways[state, target]

    def take(self, source: str, target: str, most: int = 1) -> list[list[int]]:
        """Choose up to `most` paths between two switches, add them to the load, and return their channel numbers."""
        ways = self.ways((source, False), target)
        taken: list[int] = []
        for _ in range(min(most, ways.shape[1])):
            loads = np.add.reduce(self.load.take(ways))
            if taken:
                loads[taken] = np.iinfo(np.int64).max
            taken.append(int(loads.argmin()))
            self.load[ways[:, taken[-1]]] += 1
        return ways[:, taken].T.tolist()  # type: ignore[no-any-return]

    def merit(self) -> tuple[int, int]:
        """Return the cost of the root, less is better: hops over all pairs of hosts, then minus the number of
        alternatives.
        """
        at = Counter(self.topology.attachment(host).node for host in self.topology.hosts)
        near = {state: [after for _, after in moves] for state, moves in self.moves.items()}
        total = choices = 0
        for target, hops in self.hops.items():
            ways = _counts(hops, near)
            for source, hosts in at.items():
                total += hosts * at[target] * hops[source, False]
                choices += hosts * at[target] * ways[source, False]
        return total, -choices

    def routes(self, most: int = 1) -> Routes:
        """Return up to `most` routes for each pair of hosts, in the order of the hosts. Raises RouteError if they can
        deadlock.
        """
        at = {host: self.topology.attachment(host) for host in self.topology.hosts}
        known: dict[bytes, bytes] = {}
        table: dict[Pair, bytes] = {}
        others: dict[Pair, tuple[bytes, ...]] = {}
        for source, first in at.items():
            for target, last in at.items():
                if source != target:
                    ways = self.take(first.node, last.node, most)
                    found = [self._route(first.port, way, last.port) for way in ways]
                    table[source, target], *more = [known.setdefault(route, route) for route in found]
                    if more:
                        others[source, target] = tuple(more)
        routes = Routes(table, computed=True, others=others)
        check_routes(self.topology, routes)
        return routes

    def _route(self, port: int, way: list[int], last: int) -> bytes:
        """Return the route bytes of a path that enters its first switch at `port` and leaves the last one at `last`."""
        route = bytearray()
        for channel in (self.channels[number] for number in way):
            route.append(encode(channel.source.port - port))
            port = channel.target.port
        route.append(encode(last - port))
        return bytes(route)


def _channels(topology: Topology, switch: str) -> list[Channel]:
    """Return the channels from a switch to other switches, by output port."""
    both = (Channel(end, topology.peers[end]) for end in topology.cabled(switch))
    return [channel for channel in both if not topology.is_host(channel.target.node)]


def _distances(begin: Iterable[T], near: dict[T, list[T]]) -> dict[T, int]:
    """Return the number of steps from the nearest starting node to each reachable node, nearest first."""
    steps = dict.fromkeys(begin, 0)
    todo = deque(steps)
    while todo:
        here = todo.popleft()
        for there in near.get(here, ()):
            if there not in steps:
                steps[there] = steps[here] + 1
                todo.append(there)
    return steps


def _counts(steps: dict[T, int], near: dict[T, list[T]]) -> dict[T, int]:
    """Return the number of shortest paths from each node, given the distances."""
    ways: dict[T, int] = {}
    for here, left in steps.items():
        closer = (ways[there] for there in near[here] if steps.get(there) == left - 1)
        ways[here] = sum(closer) if left else 1
    return ways


def _best_merit(topology: Topology) -> tuple[int, int]:
    """Return a lower bound for the cost of a root: the cost with all shortest paths, legal or not."""
    at = Counter(topology.attachment(host).node for host in topology.hosts)
    near = {s.name: [channel.target.node for channel in _channels(topology, s.name)] for s in topology.switches}
    total = choices = 0
    for target, hosts in at.items():
        hops = _distances([target], near)
        ways = _counts(hops, near)
        total += sum(hosts * more * hops[source] for source, more in at.items())
        choices += sum(hosts * more * ways[source] for source, more in at.items())
    return total, -choices


def _best(topology: Topology) -> UpDown:
    """Return the routing with the best root; the search ends early at a root that reaches the lower bound."""
    switches = [s.name for s in topology.switches]
    reached = UpDown(topology, topology.attachment(topology.hosts[0]).node).rank
    best, least = None, _best_merit(topology)
    for network in (UpDown(topology, switch) for switch in switches if switch in reached):
        merit = network.merit()
        if best is None or merit < best[0]:
            best = merit, network
        if merit == least:
            break
    assert best is not None
    return best[1]


def up_down(topology: Topology, root: str | None = None, most: int = 1) -> Routes:
    """Return up*/down* routes between all hosts of a topology that has passed `check`.

    Args:
        topology: The network.
        root: Name of the root switch; None to choose the best.
        most: Maximum number of routes for each pair; pairs with fewer shortest paths get fewer.

    Raises:
        TopologyError: The root is not a switch.
    """
    if root is not None:
        return UpDown(topology, root).routes(most)
    if not topology.hosts:
        return Routes({}, computed=True)
    return _best(topology).routes(most)
