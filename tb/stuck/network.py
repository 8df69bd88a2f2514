"""What packets that do not move hold and want, read from the trace: who waits for whom in the network.

A packet that has begun and not ended somewhere holds that place: the send engine, an input port of a switch with the
output granted to it, the receive engine. It wants the next place. At a standstill these waits are what blocks; while
packets move they are only a picture of the moment.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from pymodels.topology import End, Topology
from pymodels.trace import PORTS_PER_SWITCH, SWITCH_BASE, Part, TraceEvent, switch_port, unit, unit_name
from pymodels.waiting import Wait, Wanted

CROSSING = (TraceEvent.SWITCH_HEAD, TraceEvent.SWITCH_GRANT, TraceEvent.SWITCH_TAIL)


def send_engine(node: int) -> str:
    """The network-send engine of a node, as waits name it."""
    return unit_name(unit(node, Part.NET_SEND))


def receive_engine(node: int) -> str:
    """The network-receive engine of a node, as waits name it."""
    return unit_name(unit(node, Part.NET_RECV))


def latest(trace: NDArray[np.void], events: tuple[TraceEvent, ...]) -> dict[int, NDArray[np.void]]:
    """By unit: its last record of one of these events. `trace`: in time order, shape (n,)."""
    chosen = trace[np.isin(trace["event"], events)][::-1]
    units, first = np.unique(chosen["unit"], return_index=True)
    return {int(number): chosen[at] for number, at in zip(units, first, strict=True)}


def not_left(trace: NDArray[np.void]) -> list[int]:
    """Nodes whose send engine has begun more packets than have left the NIC. Those that fill the way to the link are
    told here too: behind them the engine cannot begin the next one, of which it then tells nothing.
    """
    begun = _counted(trace, TraceEvent.TX_START, Part.NET_SEND)
    left = _counted(trace, TraceEvent.TX_TAIL, Part.LINK)
    return sorted(node for node in begun if begun[node] > left.get(node, 0))


def _counted(trace: NDArray[np.void], event: TraceEvent, part: Part) -> dict[int, int]:
    """By node: records of an event at a part."""
    units, counts = np.unique(trace["unit"][trace["event"] == event], return_counts=True)
    nodes = ((divmod(number, unit(1, Part.HOST_CPU)), count) for number, count in zip(units, counts, strict=True))
    return {int(node): int(count) for (node, of), count in nodes if of == part}


@dataclass(frozen=True)
class Crossing:
    """A packet whose head has entered an input port of a switch, and whose tail has not left it."""

    switch: int
    port: int
    output: int
    granted: bool

    @property
    def name(self) -> str:
        """The input port, as waits name it."""
        return unit_name(switch_port(self.switch, self.port))


@dataclass
class Network:
    """The packets that stand in the network."""

    topology: Topology
    sending: list[int] = field(default_factory=list)
    """Nodes whose send engine has begun a packet that has not left the NIC."""
    crossing: dict[tuple[int, int], Crossing] = field(default_factory=dict)
    """By (switch, input port)."""

    @staticmethod
    def of(trace: NDArray[np.void], topology: Topology) -> Network:
        """The network as a trace leaves it. `trace`: in time order, shape (n,)."""
        network = Network(topology)
        network.sending = not_left(trace)
        for number, record in latest(trace, CROSSING).items():
            if record["event"] != TraceEvent.SWITCH_TAIL:
                switch, port = divmod(number - SWITCH_BASE, PORTS_PER_SWITCH)
                granted = bool(record["event"] == TraceEvent.SWITCH_GRANT)
                network.crossing[switch, port] = Crossing(switch, port, int(record["argument"]), granted)
        return network

    def waits(self) -> list[Wait]:
        """Every wait in the network: engines by node, then switch ports, then the receivers that they come to."""
        found = [Wait(send_engine(node), self._room(End(self.topology.hosts[node], 0))) for node in self.sending]
        reached: set[int] = set()
        for _, packet in sorted(self.crossing.items()):
            out = End(self.topology.switches[packet.switch].name, packet.output)
            found.append(Wait(packet.name, self._room(out) if packet.granted else self._output(packet)))
            peer = self.topology.peers.get(out)
            if packet.granted and peer and self.topology.is_host(peer.node):
                reached.add(self.topology.hosts.index(peer.node))
        buffers = (Wait(receive_engine(node), Wanted("a receive buffer", f"NIC {node}")) for node in sorted(reached))
        return [*found, *buffers]

    def _room(self, source: End) -> Wanted:
        """Room behind the cable that leads away from a port."""
        peer = self.topology.peers.get(source)
        if peer is None:
            return Wanted(f"a cable at {source}, which has none")
        if self.topology.is_host(peer.node):
            node = self.topology.hosts.index(peer.node)
            return Wanted(f"room at NIC {node}", receive_engine(node))
        switch = [s.name for s in self.topology.switches].index(peer.node)
        before = self.crossing.get((switch, peer.port))
        name = unit_name(switch_port(switch, peer.port))
        return Wanted(f"room in the slack buffer of {name}", before.name if before else "")

    def _output(self, packet: Crossing) -> Wanted:
        """The output port that a packet has asked for in vain."""
        others = (p for p in self.crossing.values() if p.granted and p.switch == packet.switch)
        holder = next((p.name for p in others if p.output == packet.output), "")
        return Wanted(f"output {packet.output} of switch {packet.switch}", holder)
