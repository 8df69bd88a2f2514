"""Tracking of every packet of a run through the network, from the send engine over each switch to the receive
engine.

Cables and switch ports are first in, first out: the n-th packet that enters a cable is the n-th that leaves it. Keys
alone would be ambiguous, since they wrap and an answer shares the key of its message. A FAULT of a cable names the
packet that is lost or held back, by its number on that cable. The key in the hardware's records is a check: after a
fault that leaves no record, packets of other keys are skipped and marked as lost.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from pymodels.trace import CABLE_BASE, PARTS_PER_NODE, PORTS_PER_SWITCH, SWITCH_BASE, Part, TraceEvent
from tb.report.recorded import End, Legend


@dataclass
class Hop:
    """Passage of a packet through a switch; times in ps, None for events that have not happened."""

    switch: int
    input: int
    output: int
    head: int
    """Time at which the route byte was decoded."""
    grant: int | None = None
    """Time at which the packet got the output, after waiting for other packets."""
    tail: int | None = None


@dataclass
class Packet:
    """Packet of a run; times in ps, None for events that have not happened."""

    source: int
    """Sending node."""
    key: int
    start: int
    """Time at which the send engine began to read it."""
    read: int | None = None
    """Time at which the last word left SRAM."""
    bytes: int = 0
    """Bytes of type, payload and CRC-8, without the route."""
    tx_head: int | None = None
    tx_tail: int | None = None
    hops: list[Hop] = field(default_factory=list)
    target: int | None = None
    """Receiving node."""
    rx_head: int | None = None
    rx_tail: int | None = None
    stored_head: int | None = None
    stored: int | None = None
    """Time at which it was complete in the receiver's SRAM."""
    syndrome: int = 0
    """CRC-8 syndrome of the received packet; not zero if damaged."""
    lost: bool = False
    message: int = 0
    """Number of the message; for a packet that answers a message, that message's."""


Row = tuple[int, int, int, int, int, int, int]
"""Record: (time, unit, event, packet, argument, argument2, message)."""


HEADS = TraceEvent.SWITCH_HEAD, TraceEvent.SWITCH_GRANT
"""Events of a switch before the packet's key is known."""
LOST, HELD_BACK = 1, 4
"""Kinds of FAULT on a cable that concern a whole packet (hdl/sim/doorway/faults.c)."""


def rows(trace: NDArray[np.void]) -> list[Row]:
    """Return the records as tuples of plain integers, in time order."""
    names = ("time", "unit", "event", "packet", "argument", "argument2", "message")
    return list(zip(*(trace[name].tolist() for name in names), strict=True))


class Wire:
    """Tracker of packets, fed with the records of a run in time order."""

    def __init__(self, legend: Legend) -> None:
        self.packets: list[Packet] = []
        """Packets in the order in which their senders began to send."""
        number = {name: index for index, (name, _) in enumerate(legend.switches)}
        node = {name: index for index, name in enumerate(legend.hosts)}

        def unit(end: End) -> int:
            name, port = end
            return _port(number[name], port) if name in number else node[name] * PARTS_PER_NODE + Part.LINK

        self._next = {unit(a): unit(b) for a, b in legend.peers.items()}
        self._reading: dict[int, deque[Packet]] = defaultdict(deque)
        self._unsent: dict[int, deque[Packet]] = defaultdict(deque)
        self._sending: dict[int, Packet] = {}
        self._arriving: dict[int, deque[Packet]] = defaultdict(deque)
        """Packets on cables, by the unit at the far end."""
        self._held: dict[int, Packet] = {}
        """Packet that is held back on a cable, by the unit at the far end."""
        self._entered: dict[int, list[Packet]] = defaultdict(list)
        """Packets that have entered a cable with faults, by the unit at the far end."""
        self._base: dict[int, int] = {}
        """Number of the first packet that a cable's faults count, by the unit at the far end."""
        self._ends = _cable_ends(legend)
        self._inside: dict[int, Packet] = {}
        """Packet whose head was decoded last, by switch port."""
        self._receiving: dict[int, Packet] = {}
        self._storing: dict[int, deque[Packet]] = defaultdict(deque)
        self._stored: dict[int, Packet] = {}
        self._take: dict[tuple[int, int], Callable[[Row, int], Packet | None]] = {
            (Part.NET_SEND, TraceEvent.TX_START): self._start,
            (Part.NET_SEND, TraceEvent.TX_TAIL): self._read,
            (Part.LINK, TraceEvent.TX_HEAD): self._tx_head,
            (Part.LINK, TraceEvent.TX_TAIL): self._tx_tail,
            (Part.LINK, TraceEvent.RX_HEAD): self._rx_head,
            (Part.LINK, TraceEvent.RX_TAIL): self._rx_tail,
            (Part.NET_RECV, TraceEvent.RX_HEAD): self._stored_head,
            (Part.NET_RECV, TraceEvent.RX_TAIL): self._stored_tail,
        }
        self._take_at_switch: dict[int, Callable[[Row], Packet | None]] = {
            TraceEvent.SWITCH_HEAD: self._head,
            TraceEvent.SWITCH_GRANT: self._grant,
            TraceEvent.SWITCH_TAIL: self._tail,
        }

    def take(self, row: Row) -> Packet | None:
        """Process the next record and return its packet, if any."""
        unit, event = row[1], row[2]
        if unit < SWITCH_BASE:
            by_node = self._take.get((unit % PARTS_PER_NODE, event))
            return by_node(row, unit // PARTS_PER_NODE) if by_node is not None else None
        if unit < CABLE_BASE:
            at_switch = self._take_at_switch.get(event)
            return at_switch(row) if at_switch is not None else None
        return self._fault(row) if event == TraceEvent.FAULT else None

    # ---- the sender

    def _start(self, row: Row, node: int) -> Packet:
        packet = Packet(node, row[3], row[0], message=row[6])
        self.packets.append(packet)
        self._reading[node].append(packet)
        self._unsent[node].append(packet)
        return packet

    def _read(self, row: Row, node: int) -> Packet | None:
        packet = _first(self._reading[node], row[3])
        if packet is not None:
            packet.read, packet.bytes = row[0], row[4]
        return packet

    def _tx_head(self, row: Row, node: int) -> Packet | None:
        packet = _first(self._unsent[node], row[3])
        if packet is not None:
            packet.tx_head = row[0]
            self._sending[node] = packet
            self._onto(node * PARTS_PER_NODE + Part.LINK, packet)
        return packet

    def _tx_tail(self, row: Row, node: int) -> Packet | None:
        packet = self._sending.get(node)
        if packet is not None:
            packet.tx_tail = row[0]
        return packet

    def _onto(self, unit: int, packet: Packet) -> None:
        """Put a packet on the cable of a port."""
        if unit in self._next:
            self._arriving[self._next[unit]].append(packet)
            self._entered[self._next[unit]].append(packet)

    # ---- cables

    def _fault(self, row: Row) -> Packet | None:
        """Take a packet off the cable on which it is lost or held back. Its number there counts from the first packet
        that random faults could hit.
        """
        unit = self._ends.get(row[1] - CABLE_BASE)
        if unit is None or row[4] not in (LOST, HELD_BACK):
            return None
        queue, entered = self._arriving[unit], self._entered[unit]
        if unit not in self._base:  # no earlier packet can be late on the cable
            if not queue:
                return None
            self._base[unit] = next(at for at, one in enumerate(entered) if one is queue[0]) - row[5]
        at = self._base[unit] + row[5]
        packet = entered[at] if at < len(entered) else None
        if packet is None or not any(one is packet for one in queue):
            return None
        self._arriving[unit] = deque(one for one in queue if one is not packet)
        if row[4] == LOST:
            packet.lost = True
        else:
            self._held[unit] = packet
        return packet

    def _next_on(self, unit: int, key: int) -> Packet | None:
        """Return the packet with this key that arrives next at the end of a cable: in order, or held back."""
        held, queue = self._held.get(unit), self._arriving[unit]
        if held is not None and (not queue or (held.key == key != queue[0].key)):
            return self._held.pop(unit)
        return _first(queue, key)

    # ---- switches

    def _head(self, row: Row) -> Packet | None:
        unit = row[1]
        queue = self._arriving[unit]
        if not queue:
            self._inside.pop(unit, None)
            return None
        packet = self._inside[unit] = queue.popleft()
        switch, port = divmod(unit - SWITCH_BASE, PORTS_PER_SWITCH)
        packet.hops.append(Hop(switch, port, row[4], row[0]))
        return packet

    def _grant(self, row: Row) -> Packet | None:
        packet = self._inside.get(row[1])
        if packet is not None:
            packet.hops[-1].grant = row[0]
            self._onto(_port(packet.hops[-1].switch, row[4]), packet)
        return packet

    def _tail(self, row: Row) -> Packet | None:
        packet = self._inside.get(row[1])
        if packet is not None:
            packet = self._really(packet, row[3])
            switch = (row[1] - SWITCH_BASE) // PORTS_PER_SWITCH
            hop = next((hop for hop in packet.hops if hop.switch == switch and hop.tail is None), None)
            if hop is not None:
                hop.tail = row[0]
        return packet

    def _really(self, packet: Packet, key: int) -> Packet:
        """Return the packet identified by its key. Heads have no key, so a packet lost on a cable is found
        only here.
        """
        if packet.key == key:
            return packet
        for index in reversed(range(len(packet.hops))):
            port = _port(packet.hops[index].switch, packet.hops[index].input)
            queue = self._arriving[port]
            other = next((waiting for waiting in queue if waiting.key == key), None)
            if other is None:
                continue
            while (waiting := queue.popleft()) is not other:
                waiting.lost = True
            packet.lost = True
            other.hops, packet.hops = other.hops + packet.hops[index:], packet.hops[:index]
            self._inside = {at: other if inside is packet else inside for at, inside in self._inside.items()}
            return other
        return packet

    # ---- the receiver

    def _rx_head(self, row: Row, node: int) -> Packet | None:
        packet = self._next_on(row[1], row[3])
        if packet is not None:
            packet = self._really(packet, row[3])
            packet.rx_head, packet.target = row[0], node
            self._receiving[node] = packet
            self._storing[node].append(packet)
        return packet

    def _rx_tail(self, row: Row, node: int) -> Packet | None:
        packet = self._receiving.get(node)
        if packet is not None:
            packet.rx_tail, packet.syndrome = row[0], row[5]
            packet.bytes = packet.bytes or row[4]
        return packet

    def _stored_head(self, row: Row, node: int) -> Packet | None:
        packet = _first(self._storing[node], row[3])
        if packet is not None:
            packet.stored_head = row[0]
            self._stored[node] = packet
        return packet

    def _stored_tail(self, row: Row, node: int) -> Packet | None:
        packet = self._stored.get(node)
        if packet is not None:
            packet.stored = row[0]
        return packet


def _cable_ends(legend: Legend) -> dict[int, int]:
    """Return the unit at which each cable direction ends, by its number: hosts first, then the ports of switches."""
    ends = [node * PARTS_PER_NODE + Part.LINK for node in range(len(legend.hosts))]
    ends += [_port(switch, port) for switch, (_, ports) in enumerate(legend.switches) for port in range(ports)]
    return dict(enumerate(ends))


def _port(switch: int, port: int) -> int:
    return SWITCH_BASE + switch * PORTS_PER_SWITCH + port


def _first(queue: deque[Packet], key: int) -> Packet | None:
    """Remove and return the first packet of a queue with this key; earlier packets were lost.

    If no packet has the key, the key was damaged, and the first packet is returned.
    """
    if not queue:
        return None
    if queue[0].key != key and any(packet.key == key for packet in queue):
        while queue[0].key != key:
            queue.popleft().lost = True
    return queue.popleft()
