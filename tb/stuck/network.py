"""Waits of packets in the network, derived from the trace.

A packet that has begun and not ended at a place holds this place: the send engine, a switch input port with its granted
output, the central queue of an SP switch, the receive engine. It waits for the next place. In a deadlock these waits
block; while packets move they are a snapshot.
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
    """Return the name of a node's network-send engine in waits."""
    return unit_name(unit(node, Part.NET_SEND))


def receive_engine(node: int) -> str:
    """Return the name of a node's network-receive engine in waits."""
    return unit_name(unit(node, Part.NET_RECV))


def not_left(trace: NDArray[np.void]) -> list[int]:
    """Return the nodes whose send engine has begun more packets than have left the NIC.

    This includes nodes whose path to the link is full: the engine cannot begin another packet and traces no event.
    """
    begun = _counted(trace, TraceEvent.TX_START, Part.NET_SEND)
    left = _counted(trace, TraceEvent.TX_TAIL, Part.LINK)
    return sorted(node for node in begun if begun[node] > left.get(node, 0))


def _counted(trace: NDArray[np.void], event: TraceEvent, part: Part) -> dict[int, int]:
    """Return the number of records of an event at a part, by node."""
    units, counts = np.unique(trace["unit"][trace["event"] == event], return_counts=True)
    nodes = ((divmod(number, unit(1, Part.HOST_CPU)), count) for number, count in zip(units, counts, strict=True))
    return {int(node): int(count) for (node, of), count in nodes if of == part}


@dataclass
class Network:
    """Packets in the network."""

    topology: Topology
    lines: Lines
    sending: list[int] = field(default_factory=list)
    """Nodes whose send engine has begun a packet that has not left the NIC."""
    crossing: dict[tuple[int, int], Crossing] = field(default_factory=dict)
    """Packets by switch and input port."""

    @staticmethod
    def from_trace(trace: NDArray[np.void], topology: Topology) -> Network:
        """Return the network at the end of a trace, which is in time order with shape (n,)."""
        lines = Lines(topology)
        at_switch = (trace["unit"] >= SWITCH_BASE) & np.isin(trace["event"], CROSSING)
        at_host = (trace["unit"] % unit(1, Part.HOST_CPU) == Part.LINK) & np.isin(trace["event"], RECEIVED)
        for record in trace[at_switch | ((trace["unit"] < SWITCH_BASE) & at_host)]:
            lines.take(record)
        crossing = {(packet.switch, packet.port): packet for packet in lines.crossing.values()}
        return Network(topology, lines, not_left(trace), crossing)

    def waits(self) -> list[Wait]:
        """Return all waits in the network: engines by node, switch ports, central queues, and the receivers
        that they reach.
        """
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
        """Return the wait of a packet that has not left its input."""
        first = self.lines.first((packet.switch, packet.output))
        if not packet.granted:
            holder = first.name if first is not None else ""
            return Wanted(f"output {packet.output} of switch {packet.switch}", holder)
        if packet.queued and first is not packet:
            queue = central_queue(packet.switch)
            return Wanted(f"room in the central queue of switch {packet.switch}", queue)
        return self._room(self._end(packet))

    def _end(self, packet: Crossing) -> End:
        """Return the output port of a packet."""
        return End(self.topology.switches[packet.switch].name, packet.output)

    def _host_behind(self, packet: Crossing) -> set[int]:
        """Return the node at the end of a packet's output cable; empty for a switch."""
        peer = self.topology.peers.get(self._end(packet))
        return {self.topology.hosts.index(peer.node)} if peer and self.topology.is_host(peer.node) else set()

    def _room(self, source: End) -> Wanted:
        """Return the wait for space at the far end of the cable at a port."""
        peer = self.topology.peers.get(source)
        if peer is None:
            return Wanted(f"a cable at {source}, which is not connected")
        if self.topology.is_host(peer.node):
            node = self.topology.hosts.index(peer.node)
            return Wanted(f"room at NIC {node}", receive_engine(node))
        switch = [s.name for s in self.topology.switches].index(peer.node)
        before = self.crossing.get((switch, peer.port))
        name = unit_name(switch_port(switch, peer.port))
        return Wanted(f"room in the slack buffer of {name}", before.name if before else "")
