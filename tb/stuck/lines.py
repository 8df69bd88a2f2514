"""Who has the outputs of the switches, and who comes after: read from the trace.

A packet gets an output, or its place in line for it, by a grant; it has the output until its tail has passed what comes
behind the cable. In an SP switch it may meanwhile have left its input port: then it lies in the central queue.
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
    """The central queue of an SP switch, as waits name it."""
    return unit_name(switch_port(switch, CENTRAL_QUEUE))


@dataclass
class Crossing:
    """A packet whose head has entered an input port of a switch."""

    switch: int
    port: int
    output: int
    granted: bool = False
    """The output is its own, or (SP switch) it is in line for it."""
    queued: bool = False
    """It goes through the central queue (SP switch)."""
    whole: bool = False
    """Its tail has left the input."""

    @property
    def name(self) -> str:
        """Where it stands, as waits name it: the input port, or the central queue once all of it is there."""
        there = self.whole and self.queued
        return central_queue(self.switch) if there else unit_name(switch_port(self.switch, self.port))


Out = tuple[int, int]
"""A switch and one of its output ports."""


class Lines:
    """Who has each output of each switch, and who comes after it.

    A packet has its output until its tail has passed what comes behind the cable.
    """

    def __init__(self, topology: Topology) -> None:
        number = {switch.name: index for index, switch in enumerate(topology.switches)}
        self.crossing: dict[int, Crossing] = {}
        """By unit of the input port: the packet whose tail has not left it."""
        self._before: dict[int, Out] = {}
        """By unit at the far end of a cable: the output port at its near end."""
        for near, far in topology.peers.items():
            if near.node in number and far.node in number:
                self._before[switch_port(number[far.node], far.port)] = number[near.node], near.port
            elif near.node in number:
                self._before[unit(topology.hosts.index(far.node), Part.LINK)] = number[near.node], near.port
        self._having: dict[Out, Crossing] = {}
        self._line: dict[Out, deque[Crossing]] = defaultdict(deque)

    def take(self, record: NDArray[np.void]) -> None:
        """The next record of a passage."""
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
        """A head has come over a cable: it is that of the next packet in line for it."""
        out = self._before.get(owner)
        if out is not None and self._line[out]:
            self._having[out] = self._line[out].popleft()

    def first(self, out: Out) -> Crossing | None:
        """Who has an output."""
        return self._having.get(out) or next(iter(self._line[out]), None)

    def queues(self) -> Iterator[tuple[Out, Crossing]]:
        """Outputs for which something lies in the central queue, each with the packet that has it."""
        for out in sorted(self._line.keys() | self._having.keys()):
            first = self.first(out)
            later = (packet for packet in self._line[out] if packet is not first)
            if first is not None and ((first.whole and first.queued) or any(packet.queued for packet in later)):
                yield out, first
