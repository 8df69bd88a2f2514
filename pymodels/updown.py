"""Shortest up*/down* routes, deterministic and spread over equal ways.

A spanning tree by breadth from a root switch gives each cable an up end (nearer to the root, then earlier in the
list). A legal path goes up any number of times, then down any number of times; so no circle of waiting packets can
close. That is checked, as it is for routes that are given. Among the shortest legal paths the one whose channels carry
the fewest routes so far is taken, then the one of the lowest ports. The root is the switch that gives the shortest
routes in total, then the most ways to choose from, then the first in the list: in a Clos network a leaf, so that all
spines are used.
"""

from __future__ import annotations

from collections import Counter, deque

from pymodels.errors import nearest
from pymodels.routes import Pair, Routes, check_routes, route_of
from pymodels.topology import Channel, Topology, TopologyError

State = tuple[str, bool]
"""Switch, and whether the path has already turned down."""
Way = tuple[int, tuple[int, ...], list[Channel]]
"""Routes that already run over the channels of a path, its output ports (less is better in both), and the channels."""


class UpDown:
    """Up*/down* routing on one topology with one root switch."""

    def __init__(self, topology: Topology, root: str) -> None:
        if root not in topology.first_port:
            raise TopologyError(
                "unknown switch", f"root {root!r} is no switch", nearest(root, topology.first_port), root
            )
        self.topology = topology
        self.rank = self._ranks(root)
        self.load: Counter[Channel] = Counter()
        self.out = {s.name: self._channels(s.name) for s in topology.switches}
        self.hops = {
            target: self._distances(target) for target in {topology.attachment(h).node for h in topology.hosts}
        }

    def _ranks(self, root: str) -> dict[str, tuple[int, int]]:
        """Depth below the root and position in the list, of every switch that the root reaches: less is further up."""
        order = {s.name: i for i, s in enumerate(self.topology.switches)}
        rank = {root: (0, order[root])}
        todo = deque([root])
        while todo:
            here = todo.popleft()
            for channel in self._channels(here):
                if channel.target.node not in rank:
                    rank[channel.target.node] = (rank[here][0] + 1, order[channel.target.node])
                    todo.append(channel.target.node)
        return rank

    def _channels(self, switch: str) -> list[Channel]:
        """The channels from a switch to other switches, by output port."""
        both = (Channel(end, self.topology.peers[end]) for end in self.topology.cabled(switch))
        return [channel for channel in both if not self.topology.is_host(channel.target.node)]

    def _moves(self, state: State) -> list[tuple[Channel, State]]:
        """Legal next channels, and the state that each leads to."""
        switch, down = state
        moves = []
        for channel in self.out[switch]:
            descends = self.rank[channel.target.node] > self.rank[switch]
            if descends or not down:
                moves.append((channel, (channel.target.node, descends)))
        return moves

    def _distances(self, target: str) -> dict[State, int]:
        """Hops from each state to the switch `target` by legal moves."""
        into: dict[State, list[State]] = {}
        for switch in self.rank:
            for down in (False, True):
                for _, after in self._moves((switch, down)):
                    into.setdefault(after, []).append((switch, down))
        hops = {(target, False): 0, (target, True): 0}
        todo = deque(hops)
        while todo:
            state = todo.popleft()
            for before in into.get(state, ()):
                if before not in hops:
                    hops[before] = hops[state] + 1
                    todo.append(before)
        return hops

    def path(self, pair: Pair) -> list[Channel]:
        """The channels from host to host, and their load counted."""
        first, last = (self.topology.attachment(host) for host in pair)
        hops = self.hops[last.node]
        ways: dict[State, Way] = {(first.node, False): (0, (), [])}
        for left in range(hops[first.node, False] - 1, -1, -1):
            ways = self._extend(ways, {state for state in hops if hops[state] == left})
        _, _, between = min(ways.values())
        start = Channel(self.topology.peers[first], first)
        taken = [start, *between, Channel(last, self.topology.peers[last])]
        self.load.update(taken)
        return taken

    def _extend(self, ways: dict[State, Way], allowed: set[State]) -> dict[State, Way]:
        """All ways one channel longer, the best for each state reached."""
        longer: dict[State, Way] = {}
        for state, (load, ports, taken) in ways.items():
            for channel, after in self._moves(state):
                way = (load + self.load[channel], (*ports, channel.source.port), [*taken, channel])
                if after in allowed and (after not in longer or way < longer[after]):
                    longer[after] = way
        return longer

    def merit(self) -> tuple[int, int]:
        """How good the root is, less being better: hops over all pairs of hosts, then minus the ways to choose."""
        at = Counter(self.topology.attachment(host).node for host in self.topology.hosts)
        total = choices = 0
        for target, hops in self.hops.items():
            ways: dict[State, int] = {}
            for state in hops:  # nearest to the target first
                closer = (ways[after] for _, after in self._moves(state) if hops.get(after) == hops[state] - 1)
                ways[state] = sum(closer) if hops[state] else 1
            for source, hosts in at.items():
                total += hosts * at[target] * hops[source, False]
                choices += hosts * at[target] * ways[source, False]
        return total, -choices

    def routes(self) -> Routes:
        """The routes between all pairs of hosts, in the order of the hosts. RouteError when they could deadlock."""
        pairs = [(a, b) for a in self.topology.hosts for b in self.topology.hosts if a != b]
        routes = Routes({pair: route_of(self.path(pair)) for pair in pairs}, computed=True)
        check_routes(self.topology, routes)
        return routes


def up_down(topology: Topology, root: str | None = None) -> Routes:
    """Up*/down* routes between all hosts; the best root unless one is named. TopologyError when the root is no switch.

    The topology must have passed `check`.
    """
    if root is not None:
        return UpDown(topology, root).routes()
    if not topology.hosts:
        return Routes({}, computed=True)
    reached = UpDown(topology, topology.attachment(topology.hosts[0]).node).rank
    switches = [s.name for s in topology.switches if s.name in reached]
    return min((UpDown(topology, switch) for switch in switches), key=UpDown.merit).routes()
