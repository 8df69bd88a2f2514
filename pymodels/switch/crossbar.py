"""Reference models of the crossbar switch: its effect on a packet, and its saturation throughput.

Sources are the fact sheet (1.2, 2) and Karol, Hluchyj, Morgan, "Input Versus Output Queueing on a Space-Division Packet
Switch", IEEE Trans. Communications 35 (1987), Table I, but not the RTL.
"""

from __future__ import annotations

import heapq
import math
import random
from dataclasses import dataclass, field
from enum import Enum

from pymodels.link.crc8 import crc8
from pymodels.link.packet import route_delta

KAROL = {1: 1.0, 2: 0.75, 3: 0.6825, 4: 0.6553, 5: 0.6399, 6: 0.6302, 7: 0.6234, 8: 0.6184}
"""Saturation throughput of an N x N switch with one FIFO per input, synchronous fixed-length packets and random choice
(Karol, Table I).
"""
LIMIT = 2 - math.sqrt(2)
"""Saturation throughput for N to infinity."""


def head_of_line_limit(ports: int) -> float:
    """Return the saturation throughput with one queue per input; above 8 ports the excess over LIMIT scales with 1/N
    (ours).
    """
    if ports < 1:
        raise ValueError(f"a switch has at least one port, not {ports}")
    return KAROL.get(ports) or LIMIT + (KAROL[8] - LIMIT) * 8 / ports


class Fate(Enum):
    """Outcome of a packet."""

    FORWARDED = "forwarded"
    BAD_ROUTE = "bad route"
    ABSENT = "absent port"


@dataclass(frozen=True)
class Passage:
    """Outcome of a packet; for a forwarded one with output port and outgoing bytes."""

    fate: Fate
    output: int = -1
    wire: bytes = b""


@dataclass(frozen=True)
class Crossbar:
    """Functional model with `ports` ports, of which those in `present` are cabled (default: all)."""

    ports: int
    present: frozenset[int] = field(default_factory=frozenset)

    def passage(self, source: int, wire: bytes) -> Passage:
        """Return the outcome of a packet.

        The outgoing CRC-8 is that of the packet without its route byte, XOR the incoming syndrome (correct XOR received
        CRC-8).

        Args:
            source: Input port.
            wire: All bytes from the first route byte to the CRC-8.
        """
        delta = route_delta(wire[0])
        if delta is None or not 0 <= source + delta < self.ports:
            return Passage(Fate.BAD_ROUTE)
        output = source + delta
        if self.present and output not in self.present:
            return Passage(Fate.ABSENT)
        rest = wire[1:-1]
        if len(wire) < 2:
            return Passage(Fate.FORWARDED, output, b"")
        syndrome = crc8(wire[:-1]) ^ wire[-1]
        return Passage(Fate.FORWARDED, output, rest + bytes([crc8(rest) ^ syndrome]))


REFRESH = 8
"""Clocks between two STOP characters of a blocked input, each of which costs an output slot of the same port (readings
A7).
"""


def accepted_load(
    ports: int, length: int, seed: int = 1, clocks: int = 20_000, load: float = 1.0, refresh: int = REFRESH
) -> float:
    """Return the characters delivered per port and clock under uniform traffic to all ports.

    Args:
        ports: Number of inputs and outputs.
        length: Characters of a packet on the input wire; the route byte does not leave the switch.
        seed: Seed of arrivals and destinations.
        clocks: Length of the measurement, after a warm-up of a quarter of it.
        load: Offered load in characters per port and clock; from 1.0 on the queues are never empty.
        refresh: Clocks between the STOPs of a blocked input; 0 ignores their cost, as the analytic limit does.
    """
    model = _Queues(ports, length, random.Random(seed), load, refresh)
    model.run(clocks // 4)
    return model.run(clocks) / (ports * clocks)


class _Queues:
    """Queueing model with one FIFO per input and round-robin outputs; advances one character clock at a time.

    The route byte of a packet costs its input one clock; an output switches to a waiting input without a gap. An input
    that waits long enough to fill its slack buffer stops its link. Its STOPs then take slots of the output of the same
    port.
    """

    def __init__(self, ports: int, length: int, rng: random.Random, load: float, refresh: int) -> None:
        self.ports, self.length, self.rng, self.refresh = ports, length, rng, refresh
        self.mean_gap = 0.0 if load >= 1.0 else length / load
        self.patience = 56 if self.mean_gap else 16
        """Clocks of waiting until STOP: with an initially empty slack buffer, or with one filled between its marks."""
        self.now = 0
        self.arrival = [0.0] * ports
        self.heads: list[tuple[int, int]] = []  # (clock of the request, input)
        self.waiting: list[list[int]] = [[] for _ in range(ports)]
        self.asked_at: list[int | None] = [None] * ports  # time of each waiting input's request
        self.last = [-1] * ports
        self.owner = [-1] * ports
        self.left = [0] * ports
        for port in range(ports):
            self._next_head(port, 0)

    def _next_head(self, port: int, clock: int) -> None:
        """Schedule the request of an input's next packet: at `clock`, or one clock after its arrival."""
        if self.mean_gap:
            self.arrival[port] += self.rng.expovariate(1 / self.mean_gap)
        heapq.heappush(self.heads, (max(clock, math.ceil(self.arrival[port]) + 1), port))

    def _ask(self) -> None:
        while self.heads and self.heads[0][0] <= self.now:
            _, port = heapq.heappop(self.heads)
            self.waiting[self.rng.randrange(self.ports)].append(port)
            self.asked_at[port] = self.now

    def _choose(self, output: int) -> None:
        """Serve the first waiting input after the one served last."""
        queue, last = self.waiting[output], self.last[output]
        chosen = min(queue, key=lambda port: (port - last - 1) % self.ports)
        queue.remove(chosen)
        self.asked_at[chosen] = None
        self.last[output] = self.owner[output] = chosen
        self.left[output] = self.length - 1

    def _slot_lost(self, output: int) -> bool:
        asked = self.asked_at[output]
        return asked is not None and self.now - asked > self.patience

    def run(self, clocks: int) -> int:
        """Return the number of characters delivered in the next `clocks` clocks."""
        delivered = 0
        for _ in range(clocks):
            self.now += 1
            self._ask()
            refreshing = self.refresh != 0 and self.now % self.refresh == 0
            for output in range(self.ports):
                if self.owner[output] < 0:
                    if self.waiting[output]:
                        self._choose(output)
                    continue
                if refreshing and self._slot_lost(output):
                    continue
                delivered += 1
                self.left[output] -= 1
                if self.left[output] == 0:
                    self._next_head(self.owner[output], self.now + 1)
                    self.owner[output] = -1
                    if self.waiting[output]:
                        self._choose(output)
        return delivered
