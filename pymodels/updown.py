"""Shortest up*/down* routes, deterministic and spread over equal ways.

A spanning tree by breadth from a root switch gives each cable an up end (nearer to the root, then earlier in the
list). A legal path goes up any number of times, then down any number of times; so no circle of waiting packets can
close. That is checked, as it is for routes that are given. Among the shortest legal paths the one whose channels carry
the fewest routes so far is taken, then the one of the lowest ports; where a pair is to have several routes, the next is
chosen in the same way among the rest. The root is the switch that gives the shortest
routes in total, then the most ways to choose from, then the first in the list: in a Clos network a leaf, so that all
spines are used.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator

from pymodels.errors import nearest
from pymodels.routes import Pair, Routes, check_routes, route_of
from pymodels.topology import Channel, Topology, TopologyError

State = tuple[str, bool]
"""Switch, and whether the path has already turned down."""


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

    def paths(self, pair: Pair, most: int = 1) -> list[list[Channel]]:
        """The channels from host to host, of `most` ways or of as many as there are; their load is counted."""
        left = list(self._shortest(pair))
        taken: list[list[Channel]] = []
        for _ in range(min(most, len(left))):
            taken.append(min(left, key=self._merit_of))
            left.remove(taken[-1])
            self.load.update(taken[-1])
        return taken

    def _merit_of(self, path: list[Channel]) -> tuple[int, list[int]]:
        """Routes that already run over the channels of a path, and its output ports: less is better in both."""
        return sum(self.load[channel] for channel in path), [channel.source.port for channel in path]

    def _shortest(self, pair: Pair) -> Iterator[list[Channel]]:
        """The channels of each shortest legal path."""
        first, last = (self.topology.attachment(host) for host in pair)
        begin, end = Channel(self.topology.peers[first], first), Channel(last, self.topology.peers[last])
        hops = self.hops[last.node]

        def onward(state: State) -> Iterator[list[Channel]]:
            if not hops[state]:
                yield [end]
            for channel, after in self._moves(state) if hops[state] else ():
                if hops.get(after) == hops[state] - 1:
                    yield from ([channel, *rest] for rest in onward(after))

        return ([begin, *rest] for rest in onward((first.node, False)))

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

    def routes(self, most: int = 1) -> Routes:
        """The routes between all pairs of hosts, in the order of the hosts, `most` a pair or as many as there are.
        RouteError when they could deadlock.
        """
        pairs = [(a, b) for a in self.topology.hosts for b in self.topology.hosts if a != b]
        ways = {pair: [route_of(path) for path in self.paths(pair, most)] for pair in pairs}
        others = {pair: tuple(more) for pair, (_, *more) in ways.items() if more}
        routes = Routes({pair: found[0] for pair, found in ways.items()}, computed=True, others=others)
        check_routes(self.topology, routes)
        return routes


def up_down(topology: Topology, root: str | None = None, most: int = 1) -> Routes:
    """Up*/down* routes between all hosts, `most` a pair or as many shortest ones as there are; the best root unless one
    is named. TopologyError when the root is no switch.

    The topology must have passed `check`.
    """
    if root is not None:
        return UpDown(topology, root).routes(most)
    if not topology.hosts:
        return Routes({}, computed=True)
    reached = UpDown(topology, topology.attachment(topology.hosts[0]).node).rank
    switches = [s.name for s in topology.switches if s.name in reached]
    return min((UpDown(topology, switch) for switch in switches), key=UpDown.merit).routes(most)
