"""Owners of switch outputs, and the packets queued for them, derived from the trace.

A grant gives a packet an output, or a place in the queue for it. The packet owns the output until its tail has passed
the far end of the cable. In an SP switch it may have left its input port before; then it is in the central queue.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pymodels.topology import Topology
from pymodels.trace import CENTRAL_QUEUE, PORTS_PER_SWITCH, SWITCH_BASE, Part, TraceEvent, switch_port, unit, unit_name

CROSSING = (TraceEvent.SWITCH_HEAD, TraceEvent.SWITCH_QUEUE, TraceEvent.SWITCH_GRANT, TraceEvent.SWITCH_TAIL)
RECEIVED = (TraceEvent.RX_HEAD, TraceEvent.RX_TAIL)
HEADS, TAILS = (TraceEvent.SWITCH_HEAD, TraceEvent.RX_HEAD), (TraceEvent.SWITCH_TAIL, TraceEvent.RX_TAIL)


def central_queue(switch: int) -> str:
    """Return the name of an SP switch's central queue in waits."""
    return unit_name(switch_port(switch, CENTRAL_QUEUE))


@dataclass
class Crossing:
    """Packet whose head has entered an input port of a switch."""

    switch: int
    port: int
    output: int
    granted: bool = False
    """True if the packet owns the output or, in an SP switch, is queued for it."""
    queued: bool = False
    """True if the packet passes through the central queue (SP switch)."""
    whole: bool = False
    """True once the tail has left the input."""

    @property
    def name(self) -> str:
        """Place of the packet in waits: the input port, or the central queue once the whole packet is there."""
        there = self.whole and self.queued
        return central_queue(self.switch) if there else unit_name(switch_port(self.switch, self.port))


Out = tuple[int, int]
"""Switch and output port."""


class Lines:
    """Owner and queue of each output of each switch.

    A packet owns its output until its tail has passed the far end of the cable.
    """

    def __init__(self, topology: Topology) -> None:
        number = {switch.name: index for index, switch in enumerate(topology.switches)}
        self.crossing: dict[int, Crossing] = {}
        """Packets whose tail has not left their input port, by unit of the port."""
        self._before: dict[int, Out] = {}
        """Output ports at the near ends of cables, by unit at the far end."""
        for near, far in topology.peers.items():
            if near.node in number and far.node in number:
                self._before[switch_port(number[far.node], far.port)] = number[near.node], near.port
            elif near.node in number:
                self._before[unit(topology.hosts.index(far.node), Part.LINK)] = number[near.node], near.port
        self._having: dict[Out, Crossing] = {}
        self._line: dict[Out, deque[Crossing]] = defaultdict(deque)

    def take(self, record: NDArray[np.void]) -> None:
        """Apply the next trace record of a packet."""
        owner, event = int(record["unit"]), record["event"]
        packet = self.crossing.get(owner)
        if event in HEADS:
            self._comes(owner)
        elif event in TAILS and owner in self._before:
            self._having.pop(self._before[owner], None)
        if event == TraceEvent.SWITCH_HEAD:
            switch, port = divmod(owner - SWITCH_BASE, PORTS_PER_SWITCH)
            self.crossing[owner] = Crossing(switch, port, int(record["argument"]))
        elif packet is None:
            return
        elif event == TraceEvent.SWITCH_QUEUE:
            packet.queued = True
        elif event == TraceEvent.SWITCH_GRANT:
            packet.granted = True
            self._line[packet.switch, packet.output].append(packet)
        elif event == TraceEvent.SWITCH_TAIL:
            self.crossing.pop(owner).whole = True

    def _comes(self, owner: int) -> None:
        """Give an output to the next queued packet, whose head has arrived at the far end of the cable."""
        out = self._before.get(owner)
        if out is not None and self._line[out]:
            self._having[out] = self._line[out].popleft()

    def first(self, out: Out) -> Crossing | None:
        """Return the owner of an output."""
        return self._having.get(out) or next(iter(self._line[out]), None)

    def queues(self) -> Iterator[tuple[Out, Crossing]]:
        """Yield the outputs with packets in the central queue, each with its owner."""
        for out in sorted(self._line.keys() | self._having.keys()):
            first = self.first(out)
            later = (packet for packet in self._line[out] if packet is not first)
            if first is not None and ((first.whole and first.queued) or any(packet.queued for packet in later)):
                yield out, first
