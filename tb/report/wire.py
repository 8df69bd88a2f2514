"""Every packet of a run, followed through the network: from the send engine over each switch to the receive engine.

Nothing is guessed from keys, which wrap and which an answer shares with the message it answers: cables and switch ports
are first in, first out, so the n-th packet that enters a cable is the n-th that leaves it. The key that the hardware
carries along is the check: where a fault has swallowed a packet, those of another key are skipped and marked lost.
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
    """One crossing of a switch; times in picoseconds, None for what has not happened."""

    switch: int
    input: int
    output: int
    head: int
    """The route byte was decoded."""
    grant: int | None = None
    """The output is its own: until here it has waited for other packets."""
    tail: int | None = None


@dataclass
class Packet:
    """One packet on its way; times in picoseconds, None for what has not happened."""

    source: int
    """Node that sent it."""
    key: int
    start: int
    """The send engine began to read it."""
    read: int | None = None
    """The last word has left SRAM."""
    bytes: int = 0
    """Type, payload and CRC-8, without the route."""
    tx_head: int | None = None
    tx_tail: int | None = None
    hops: list[Hop] = field(default_factory=list)
    target: int | None = None
    """Node that received it."""
    rx_head: int | None = None
    rx_tail: int | None = None
    stored_head: int | None = None
    stored: int | None = None
    """All of it is in the receiver's SRAM."""
    syndrome: int = 0
    """CRC-8 over what arrived; not zero when it was damaged."""
    lost: bool = False


Row = tuple[int, int, int, int, int, int]
"""(time, unit, event, packet, argument, argument2)."""


def rows(trace: NDArray[np.void]) -> list[Row]:
    """The records as tuples of plain integers, in time order."""
    names = ("time", "unit", "event", "packet", "argument", "argument2")
    return list(zip(*(trace[name].tolist() for name in names), strict=True))


class Wire:
    """Takes the records of a run one by one, in time order, and follows its packets."""

    def __init__(self, legend: Legend) -> None:
        self.packets: list[Packet] = []
        """All packets in the order in which their sender began with them."""
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
        """By the unit into which the cable leads."""
        self._inside: dict[int, Packet] = {}
        """By switch port: the packet whose head was decoded last."""
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
        """The next record; the packet it belongs to, if it belongs to one."""
        unit, event = row[1], row[2]
        if unit < SWITCH_BASE:
            by_node = self._take.get((unit % PARTS_PER_NODE, event))
            return by_node(row, unit // PARTS_PER_NODE) if by_node is not None else None
        if unit < CABLE_BASE:
            at_switch = self._take_at_switch.get(event)
            return at_switch(row) if at_switch is not None else None
        return None

    # ---- the sender

    def _start(self, row: Row, node: int) -> Packet:
        packet = Packet(node, row[3], row[0])
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
        """A packet enters the cable at this port."""
        if unit in self._next:
            self._arriving[self._next[unit]].append(packet)

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
        """Who it is, now that the key is seen: a head has none, so a packet lost on a cable was not missed there."""
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
            other.hops, packet.hops = packet.hops[index:], packet.hops[:index]
            self._inside = {at: other if inside is packet else inside for at, inside in self._inside.items()}
            return other
        return packet

    # ---- the receiver

    def _rx_head(self, row: Row, node: int) -> Packet | None:
        packet = _first(self._arriving[row[1]], row[3])
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


def _port(switch: int, port: int) -> int:
    return SWITCH_BASE + switch * PORTS_PER_SWITCH + port


def _first(queue: deque[Packet], key: int) -> Packet | None:
    """Take the first packet of a queue. Those before one of this key were lost; a key that nobody has was damaged."""
    if not queue:
        return None
    if queue[0].key != key and any(packet.key == key for packet in queue):
        while queue[0].key != key:
            queue.popleft().lost = True
    return queue.popleft()
