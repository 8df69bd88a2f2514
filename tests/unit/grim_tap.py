"""Holds a run of GRIM's firmware against the reference model: every packet on the wire, every verdict, every answer."""

from __future__ import annotations

from collections import defaultdict, deque

from pymodels.formats import grim
from pymodels.grim_model import Stream, Verdict
from pymodels.machine.network import Flight
from pymodels.trace import PARTS_PER_NODE, Part, TraceEvent
from tests.unit.grim_bench import Bench

Name = tuple[int, int, int, int]
"""Source channel, source NI, destination NI, destination channel."""


class Tap:
    """Collects the packets as they leave, then replays trace and packets through one model a stream."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.streams: dict[Name, Stream] = {}
        self.rolled_back: set[Name] = set()
        self._packets: dict[int, deque[bytes]] = defaultdict(deque)
        network = bench.machine.network
        carry, parts = network.carry, {}  # type: ignore[var-annotated]

        def tapped(flight: Flight, data: bytes, tail: bool) -> None:
            parts.setdefault(flight, bytearray()).extend(data)
            if tail:
                packet = bytes(parts.pop(flight))
                while packet[0] & 0x80:
                    packet = packet[1:]
                if packet[4] >> 2 < grim.FIRST_CONTROL:
                    self._packets[flight.source].append(packet)
            carry(flight, data, tail)

        network.carry = tapped  # type: ignore[method-assign]

    def replay(self) -> None:
        """Raises ProtocolError at the first deviation."""
        self._wires: dict[tuple[int, int], deque[tuple[Name, int]]] = defaultdict(deque)
        self._meant: dict[tuple[int, int], Name] = {}
        self._from: dict[int, int] = {}
        for _, unit, event, packet, argument, _ in self.bench.machine.trace.records:
            node, part = divmod(unit, PARTS_PER_NODE)
            if part == Part.NIC_CPU and event in _FIRMWARE:
                self._did(node, event, packet, argument)

    def _stream(self, name: Name) -> Stream:
        if name not in self.streams:
            options = self.bench.libraries[0].options
            tokens = grim.TOKENS if options.sequencing == "per-ni" else grim.TOKENS // options.channels
            window = min(options.window, tokens)
            stream = self.streams[name] = Stream(str(name), window)
            stream.injected = 1 << 30
        return self.streams[name]

    def _left(self, source: int, key: int) -> None:
        """The firmware has handed its next message to the send engine: the next packet that was on its wire."""
        data = self._packets[source].popleft()
        assert int.from_bytes(data[:4], "big") == key, f"node {source}: {key:#x} was sent, {data[:4].hex()} left"
        header = grim.unpack(data)
        name = (header.channel >> 8, source, header.destination >> 8, header.channel & 0xFF)
        if self.bench.libraries[0].options.sequencing == "per-ni":
            name = (0, source, header.destination >> 8, 0)
        stream = self._stream(name)
        number = stream.next + grim.distance(header.sequence, stream.next & grim.COUNTER_MASK)
        stream.send(number)
        self._meant[source, key] = name
        self._wires[source, name[2]].append((name, key))

    def _did(self, node: int, event: int, key: int, peer: int) -> None:
        if event == TraceEvent.NIC_SEND_START:
            self._left(node, key)
        elif event == TraceEvent.NIC_RECV_START:
            self._from[node] = peer
        elif event in _VERDICTS:
            name, left = self._wires[self._from[node], node].popleft()
            assert left == key, f"{name}: packet {left:#x} left, {key:#x} arrived"
            self.streams[name].arrive(did=_VERDICTS[TraceEvent(event)])
        elif event in _ANSWERS:
            name = self._meant[node, key]
            self.streams[name].answer(_ANSWERS[TraceEvent(event)])
            if event == TraceEvent.NACK_SEEN:
                self.rolled_back.add(name)


_VERDICTS = {
    TraceEvent.NIC_ACCEPT: Verdict.ACCEPT,
    TraceEvent.NACK_SENT: Verdict.REFUSE,
    TraceEvent.NIC_DROPPED: Verdict.DROP,
}
_ANSWERS = {TraceEvent.ACK_SEEN: Verdict.ACCEPT, TraceEvent.NACK_SEEN: Verdict.REFUSE}
_FIRMWARE = {TraceEvent.NIC_SEND_START, TraceEvent.NIC_RECV_START, *_VERDICTS, *_ANSWERS}
