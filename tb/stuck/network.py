"""What packets that do not move hold and want, read from the trace: who waits for whom in the network.

A packet that has begun and not ended somewhere holds that place: the send engine, an input port of a switch with the
output granted to it, the central queue of an SP switch, the receive engine. It wants the next place. At a standstill
these waits are what blocks; while packets move they are only a picture of the moment.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from pymodels.topology import End, Topology
from pymodels.trace import SWITCH_BASE, Part, TraceEvent, switch_port, unit, unit_name
from pymodels.waiting import Wait, Wanted
from tb.stuck.lines import CROSSING, RECEIVED, Crossing, Lines, central_queue


def send_engine(node: int) -> str:
    """The network-send engine of a node, as waits name it."""
    return unit_name(unit(node, Part.NET_SEND))


def receive_engine(node: int) -> str:
    """The network-receive engine of a node, as waits name it."""
    return unit_name(unit(node, Part.NET_RECV))


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


@dataclass
class Network:
    """The packets that stand in the network."""

    topology: Topology
    lines: Lines
    sending: list[int] = field(default_factory=list)
    """Nodes whose send engine has begun a packet that has not left the NIC."""
    crossing: dict[tuple[int, int], Crossing] = field(default_factory=dict)
    """By (switch, input port)."""

    @staticmethod
    def of(trace: NDArray[np.void], topology: Topology) -> Network:
        """The network as a trace leaves it. `trace`: in time order, shape (n,)."""
        lines = Lines(topology)
        at_switch = (trace["unit"] >= SWITCH_BASE) & np.isin(trace["event"], CROSSING)
        at_host = (trace["unit"] % unit(1, Part.HOST_CPU) == Part.LINK) & np.isin(trace["event"], RECEIVED)
        for record in trace[at_switch | ((trace["unit"] < SWITCH_BASE) & at_host)]:
            lines.take(record)
        crossing = {(packet.switch, packet.port): packet for packet in lines.crossing.values()}
        return Network(topology, lines, not_left(trace), crossing)

    def waits(self) -> list[Wait]:
        """Every wait in the network: engines by node, switch ports, central queues, and the receivers they come to."""
        found = [Wait(send_engine(node), self._room(End(self.topology.hosts[node], 0))) for node in self.sending]
        reached: set[int] = set()
        for _, packet in sorted(self.crossing.items()):
            found.append(Wait(packet.name, self._wanted(packet)))
            if packet.granted:
                reached |= self._host_behind(packet)
        for (switch, output), first in self.lines.queues():
            if first.whole:
                found.append(Wait(central_queue(switch), self._room(self._end(first))))
                reached |= self._host_behind(first)
            else:
                wanted = Wanted(f"output {output} of switch {switch}", first.name)
                found.append(Wait(central_queue(switch), wanted))
        buffers = (Wait(receive_engine(node), Wanted("a receive buffer", f"NIC {node}")) for node in sorted(reached))
        return [*found, *buffers]

    def _wanted(self, packet: Crossing) -> Wanted:
        """What a packet lacks that has not left its input."""
        first = self.lines.first((packet.switch, packet.output))
        if not packet.granted:
            holder = first.name if first is not None else ""
            return Wanted(f"output {packet.output} of switch {packet.switch}", holder)
        if packet.queued and first is not packet:
            queue = central_queue(packet.switch)
            return Wanted(f"room in the central queue of switch {packet.switch}", queue)
        return self._room(self._end(packet))

    def _end(self, packet: Crossing) -> End:
        """The output port of a packet."""
        return End(self.topology.switches[packet.switch].name, packet.output)

    def _host_behind(self, packet: Crossing) -> set[int]:
        """The node that a packet comes to behind its output; empty where that is a switch."""
        peer = self.topology.peers.get(self._end(packet))
        return {self.topology.hosts.index(peer.node)} if peer and self.topology.is_host(peer.node) else set()

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
