"""Network of the machine: packets as bytes, wormhole routing over any topology, backpressure, CRC-8.

A packet moves in chunks. Its head is routed byte by byte and acquires one output port after another, waiting for ports
held by other packets; its tail releases them when the receiver has stored it. Data that a receiver does not accept stay
in the network, and a sender with more than `Timing.slack` bytes in the network stops. CRC-8 with initial value 0 is
linear. The syndrome of a packet is therefore the CRC of the pattern of flipped bits, computed only after a fault.
"""

from __future__ import annotations

from collections import Counter, deque
from functools import partial
from typing import Protocol

from pymodels.machine.faults import Fault, FaultKind, Faults
from pymodels.machine.world import World
from pymodels.routes import decode
from pymodels.topology import End, Topology
from pymodels.trace import TraceEvent, switch_port

CRC_POLYNOMIAL = 0x07
NOBODY = -1
"""Source of a packet without a sender that waits for credit: held by a fault, or inserted."""


def _table() -> bytes:
    table = bytearray(256)
    for value in range(256):
        crc = value
        for _ in range(8):
            crc = (crc << 1 ^ (CRC_POLYNOMIAL if crc & 0x80 else 0)) & 0xFF
        table[value] = crc
    return bytes(table)


_CRC = _table()


def crc8(data: bytes) -> int:
    """Return the CRC-8 of bytes: polynomial 0x07, initial value 0 (fact sheet 1.3). It is 0 for a correct packet with
    CRC.
    """
    crc = 0
    for byte in data:
        crc = _CRC[crc ^ byte]
    return crc


class SenderEnd(Protocol):
    """Interface of a send engine to the network."""

    def credit(self, size: int) -> None:
        """Handle that `size` bytes of this sender have left the network."""


class ReceiverEnd(Protocol):
    """Interface of a receive engine to the network."""

    def offer(self, flight: Flight, data: bytes, size: int, tail: bool) -> None:
        """Accept bytes at the NIC, `tail` with the last ones. The engine calls `flight.taken` when they are stored."""


class Flight:
    """Packet in flight.

    `crc_error` is the syndrome on arrival, `key` the first four bytes after the route, `message` the number of its
    message in the trace.
    """

    __slots__ = (
        "_network",
        "arrival",
        "aside",
        "crc_error",
        "entered",
        "faults",
        "held",
        "here",
        "key",
        "latency",
        "length",
        "message",
        "opened",
        "pending",
        "receiver",
        "source",
        "waits",
    )

    def __init__(self, network: ModelNetwork, source: int, here: End, message: int = 0) -> None:
        self._network = network
        self.message = message
        self.source = source
        self.here = here
        self.held: list[End] = []
        self.entered: list[End] = []
        """Input port through which the packet reaches each output that it holds."""
        self.pending: deque[tuple[bytes, int, bool]] = deque()
        """Chunks that wait for the head: (remaining bytes, size in the network, tail)."""
        self.receiver: int | None = None
        self.opened = False
        self.waits = False
        self.latency = 0
        self.arrival = 0
        self.key = 0
        self.length = 0
        self.faults: list[Fault] = []
        self.aside: bytearray | None = None
        """Bytes received so far of a packet that is held."""
        self.crc_error = 0

    def taken(self, size: int, tail: bool) -> None:
        """Release stored bytes from the network; with the tail the packet releases its path."""
        self._network.release(self, size, tail)


class ModelNetwork:
    """Switches and cables between NICs. Counters: packets, bad_route, absent (dead output), dropped, corrupted,
    reordered, doubled.
    """

    def __init__(self, world: World, topology: Topology) -> None:
        self.counters: Counter[str] = Counter()
        self.faults = Faults()
        self.senders: list[SenderEnd] = []
        self.receivers: list[ReceiverEnd] = []
        self._kernel = world.kernel
        self._topology = topology
        self._timing = world.timing
        self._log = world.log
        self._vnn = {name: vnn for vnn, name in enumerate(topology.hosts)}
        self._number = {switch.name: number for number, switch in enumerate(topology.switches)}
        self._holder: dict[End, Flight] = {}
        self._waiting: dict[End, deque[Flight]] = {}
        self._input: list[deque[Flight]] = [deque() for _ in topology.hosts]
        self._aside = 0
        """Number of packets that are held, or wait for their output again."""

    def in_flight(self) -> int:
        """Return the number of packets that have entered and not yet left."""
        return sum(len(queue) for queue in self._input) + self._aside

    def enter(self, source: int, message: int = 0) -> Flight:
        """Create a packet of a message that begins to leave a NIC."""
        flight = Flight(self, source, self._topology.attachment(self._topology.hosts[source]), message)
        self._input[source].append(flight)
        self.counters["packets"] += 1
        return flight

    def carry(self, flight: Flight, data: bytes, tail: bool) -> None:
        """Accept the next bytes of a packet at the input of the first switch; `tail` with the last ones."""
        flight.pending.append((data, len(data), tail))
        if flight.opened:
            self._stream(flight)
        elif self._input[flight.source][0] is flight and not flight.waits:
            self._route(flight)

    def release(self, flight: Flight, size: int, tail: bool) -> None:
        """Remove bytes of a packet from the network, and with the tail its path."""
        if tail:
            for end, entry in zip(flight.held, flight.entered, strict=True):
                self._free(end, entry, flight)
        if flight.source == NOBODY:
            self._aside -= tail
            return
        if tail:
            queue = self._input[flight.source]
            queue.popleft()
            if queue and queue[0].pending:
                self._route(queue[0])
        self.senders[flight.source].credit(size)

    def _free(self, end: End, entry: End, gone: Flight) -> None:
        """Release an output that the tail of a packet has passed."""
        self._record(TraceEvent.SWITCH_TAIL, entry, end, gone, gone.key)
        del self._holder[end]
        waiting = self._waiting.get(end)
        if waiting:
            flight = waiting.popleft()
            flight.waits = False
            self._take(flight, end)
            self._route(flight)

    def _take(self, flight: Flight, end: End) -> None:
        self._holder[end] = flight
        self._record(TraceEvent.SWITCH_GRANT, flight.here, end, flight)
        flight.held.append(end)
        flight.entered.append(flight.here)
        flight.here = self._topology.peers[end]

    def _record(self, event: TraceEvent, entry: End, end: End, flight: Flight, key: int = 0) -> None:
        """Record an event of a packet that goes from an input port to an output port of a switch."""
        self._log.add(switch_port(self._number[entry.node], entry.port), event, key, end.port, 0, flight.message)

    def _route(self, flight: Flight) -> None:
        """Route the head as far as possible."""
        while flight.here.node in self._number:
            byte = self._strip(flight)
            if byte is None:
                if flight.pending and flight.pending[-1][2]:
                    self.counters["bad_route"] += 1  # the packet ends before its route does
                    self._open(flight, None)
                return
            end = self._output(flight, byte)
            if end is None:
                self._open(flight, None)
                return
            if end in self._holder:
                flight.waits = True
                self._waiting.setdefault(end, deque()).append(flight)
                return
            self._take(flight, end)
        self._open(flight, self._vnn[flight.here.node])

    def _strip(self, flight: Flight) -> int | None:
        """Remove and return the next byte of the head, or None if it has not arrived."""
        for place, (data, size, tail) in enumerate(flight.pending):
            if data:
                flight.pending[place] = (data[1:], size, tail)
                return data[0]
        return None

    def _output(self, flight: Flight, byte: int) -> End | None:
        """Return the output port that a route byte selects, or None after counting an invalid one."""
        delta = decode(byte)
        here = flight.here
        if delta is None or not 0 <= here.port + delta < self._topology.ports[here.node]:
            self.counters["bad_route"] += 1
            return None
        end = End(here.node, here.port + delta)
        if end not in self._topology.peers:
            self.counters["absent"] += 1
            return None
        self._record(TraceEvent.SWITCH_HEAD, here, end, flight)
        return end

    def _open(self, flight: Flight, receiver: int | None) -> None:
        """Start the flow of bytes on a complete path. Without a receiver they are discarded."""
        hops = len(flight.held)
        flight.opened = True
        flight.receiver = receiver
        flight.latency = hops * self._timing.fall_through + (hops + 1) * self._timing.cable
        if receiver is not None and flight.source != NOBODY:
            self._strike(flight, receiver)
        self._stream(flight)

    def _strike(self, flight: Flight, receiver: int) -> None:
        """Determine the faults of a packet before its bytes flow."""
        flight.faults = self.faults.packet(flight.source, receiver)
        flight.faults += self.faults.on_way(self._topology.peers[end] for end in flight.held)
        for fault in flight.faults:
            self._log.add(switch_port(0, 0), TraceEvent.FAULT, 0, fault.kind, fault.offset, flight.message)
            if fault.kind is FaultKind.DELAY:
                flight.latency += fault.delay
            if fault.kind in (FaultKind.REORDER, FaultKind.DOUBLE):
                flight.aside = bytearray()
                self._aside += 1
            if fault.kind in (FaultKind.REORDER, FaultKind.DROP):
                flight.receiver = None
            counted = {FaultKind.DROP: "dropped", FaultKind.REORDER: "reordered", FaultKind.DOUBLE: "doubled"}
            if fault.kind in counted:
                self.counters[counted[fault.kind]] += 1

    def _stream(self, flight: Flight) -> None:
        """Schedule the delivery of queued chunks, each no earlier than the wire allows."""
        while flight.pending:
            data, size, tail = flight.pending.popleft()
            flight.arrival = max(self._kernel.now + flight.latency, flight.arrival + size * self._timing.character)
            self._kernel.at(flight.arrival, partial(self._deliver, flight, data, size, tail))

    def _deliver(self, flight: Flight, data: bytes, size: int, tail: bool) -> None:
        start, flight.length = flight.length, flight.length + len(data)
        vanishes = flight.receiver is None and flight.aside is None
        if flight.faults and not vanishes:
            data = self._damage(flight, data, start, tail)
        if start < 4:
            flight.key = (flight.key << 8 * min(4 - start, len(data))) | int.from_bytes(data[: 4 - start], "big")
        if vanishes:
            self.release(flight, size, tail)
            return
        if flight.aside is not None:
            flight.aside += data
            if tail:
                self._stand_aside(flight)
        if flight.receiver is None:
            self.release(flight, size, tail)
            return
        self.receivers[flight.receiver].offer(flight, data, size, tail)

    def _stand_aside(self, flight: Flight) -> None:
        """Schedule the re-entry of a complete packet, or copy, into its last output."""
        assert flight.aside is not None
        later = self._whole(bytes(flight.aside), flight.entered[-1], flight.message)
        later.crc_error = flight.crc_error
        delay = max(fault.delay for fault in flight.faults if fault.kind in (FaultKind.REORDER, FaultKind.DOUBLE))
        self._kernel.at(self._kernel.now + delay, partial(self._go_on, later, flight.held[-1]))

    def insert(self, receiver: int, data: bytes) -> None:
        """Deliver a packet that no NIC has sent to a NIC, when the output of its switch is free."""
        end = self._topology.attachment(self._topology.hosts[receiver])
        self._aside += 1
        self._go_on(self._whole(data, end), end)

    def _whole(self, data: bytes, here: End, message: int = 0) -> Flight:
        """Return a flight whose bytes are all present."""
        flight, chunk = Flight(self, NOBODY, here, message), self._timing.chunk
        for at in range(0, len(data), chunk):
            piece = data[at : at + chunk]
            flight.pending.append((piece, len(piece), at + chunk >= len(data)))
        return flight

    def _go_on(self, flight: Flight, end: End) -> None:
        """Make a held packet enter an output when it is free."""
        if end in self._holder:
            flight.waits = True
            self._waiting.setdefault(end, deque()).append(flight)
        else:
            self._take(flight, end)
            self._route(flight)

    def _damage(self, flight: Flight, data: bytes, start: int, tail: bool) -> bytes:
        """Flip the bits that faults select in this chunk; at the tail compute the syndrome."""
        bad = bytearray(data)
        for fault in flight.faults:
            if fault.kind is not FaultKind.CORRUPT:
                continue
            if start <= fault.offset < start + len(bad):
                bad[fault.offset - start] ^= fault.mask
            if tail and fault.offset <= flight.length:
                flight.crc_error ^= crc8(bytes((fault.mask,)) + bytes(flight.length - fault.offset))
                self.counters["corrupted"] += 1
        return bytes(bad)
