"""Comparison of GRIM's firmware with the reference models: every packet sent, every verdict, every answer seen.

A replay needs only the packets that left each node and the trace, of the machine or of RTL.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from firmware.grim import formats as grim
from firmware.grim.nic.layout import Counter
from pymodels.trace import PARTS_PER_NODE, Part, TraceEvent
from tests.unit.grim.loss_model import LossyStream
from tests.unit.grim.model import Stream, Verdict

Name = tuple[int, int, int, int]
"""Source channel, source NI, destination NI, destination channel."""
Lane = Callable[[int], int]
ENDLESS = 1 << 30
"""Number of injected messages, so large that endpoints always have more: the replay does not follow injections."""


def is_message(packet: bytes) -> bool:
    """Return True if a packet without its route is sequenced."""
    return packet[4] >> 2 < grim.FIRST_CONTROL


def without_route(packet: bytes) -> bytes:
    """Return a packet from its type on."""
    at = 0
    while packet[at] & 0x80:
        at += 1
    return packet[at:]


@dataclass(frozen=True)
class Sent:
    """Message in flight."""

    key: int
    name: Name
    number: int


class Replay:
    """The streams of a run; `run` raises ProtocolError at the first deviation of the firmware from the model."""

    def __init__(self, packets: Mapping[int, Iterable[bytes]], window: int, lane: Lane | None = None) -> None:
        """`packets`: by node, the messages that left it in order, without their routes. `lane`: per-NI sequencing, what
        of a NI is sequenced together, by source channel.
        """
        self._packets = {node: deque(of) for node, of in packets.items()}
        self.window, self._lane = window, lane
        self.streams: dict[Name, Stream] = {}
        self.rolled_back: set[Name] = set()
        self.wires: dict[tuple[int, int], deque[Sent]] = defaultdict(deque)
        """Messages in flight by source and destination."""
        self.meant: dict[tuple[int, int], Sent] = {}
        """Messages by node and key."""
        self._from: dict[int, int] = {}

    def run(self, records: Iterable[tuple[int, int, int, int]]) -> None:
        """Follow trace records (unit, event, packet, argument) in the order of time."""
        for unit, event, key, argument in records:
            node, part = divmod(unit, PARTS_PER_NODE)
            if part == Part.NIC_CPU and event in FOLLOWED:
                self._did(node, TraceEvent(event), key, argument)

    def _did(self, node: int, event: TraceEvent, key: int, argument: int) -> None:
        if event == TraceEvent.NIC_SEND_START:
            self._left(node, key)
        elif event == TraceEvent.NIC_RECV_START:
            self._from[node] = argument
        elif event in VERDICTS:
            verdict = VERDICTS[event]
            if argument == Counter.DUPLICATES and verdict is Verdict.DROP:
                verdict = Verdict.DUPLICATE
            if verdict is not Verdict.DROP or argument != Counter.BAD_CRC:
                self.arrived(self.wires[self._from[node], node], key, verdict)
        elif event in ANSWERS:
            self.answered(self.meant[node, key], ANSWERS[event])
        else:
            self.expired(self.meant[node, key])

    def _left(self, node: int, key: int) -> None:
        """Take the next packet of a node, when its firmware has started the send engine."""
        data = self._packets[node].popleft()
        assert int.from_bytes(data[:4], "big") == key, f"node {node}: {key:#x} was sent, {data[:4].hex()} left"
        header = grim.unpack(data)
        name = (header.channel >> 8, node, header.destination >> 8, header.channel & 0xFF)
        if self._lane is not None:
            name = (self._lane(header.channel >> 8), node, header.destination >> 8, 0)
        sent = self.meant[node, key] = Sent(key, name, self.sent(name, header.sequence))
        self.wires[node, name[2]].append(sent)

    def sent(self, name: Name, sequence: int) -> int:
        """Send a message of a stream in its model; return its number."""
        stream = self.streams.setdefault(name, Stream(str(name), self.window, ENDLESS))
        return stream.send(stream.next + grim.distance(sequence, stream.next & grim.COUNTER_MASK))

    def arrived(self, wire: deque[Sent], key: int, verdict: Verdict) -> None:
        """Receive a message in its model, with the verdict of the receiver."""
        sent = wire.popleft()
        assert sent.key == key, f"{sent.name}: packet {sent.key:#x} left, {key:#x} arrived"
        self.streams[sent.name].arrive(did=verdict)

    def answered(self, sent: Sent, verdict: Verdict) -> None:
        """Receive an answer in the model, as the sender did."""
        self.streams[sent.name].answer(verdict)
        if verdict is Verdict.REFUSE:
            self.rolled_back.add(sent.name)

    def expired(self, sent: Sent) -> None:
        """Reject a time-out of the sender, which cannot occur without the extension."""
        raise AssertionError(f"{sent.name}: a time-out of message {sent.number}")


class LossyReplay(Replay):
    """Replay for networks that lose packets, with the time-out extension."""

    def __init__(self, packets: Mapping[int, Iterable[bytes]], window: int, lane: Lane | None = None) -> None:
        super().__init__(packets, window, lane)
        self.lossy: dict[Name, LossyStream] = {}

    def sent(self, name: Name, sequence: int) -> int:
        """See `Replay`."""
        stream = self.lossy.setdefault(name, LossyStream(str(name), self.window, ENDLESS))
        return stream.send(stream.next + grim.distance(sequence, stream.next & grim.COUNTER_MASK))

    def arrived(self, wire: deque[Sent], key: int, verdict: Verdict) -> None:
        """See `Replay`. Messages that left before it and did not arrive are lost."""
        while wire[0].key != key:
            wire.popleft()
        sent = wire.popleft()
        self.lossy[sent.name].arrive(number=sent.number, did=verdict)

    def answered(self, sent: Sent, verdict: Verdict) -> None:
        """See `Replay`."""
        self.lossy[sent.name].answer((verdict, sent.number))
        if verdict is Verdict.REFUSE:
            self.rolled_back.add(sent.name)

    def expired(self, sent: Sent) -> None:
        """See `Replay`."""
        self.lossy[sent.name].expire(sent.number)

    def total(self, verdict: Verdict) -> int:
        """Return how often receivers reached a verdict."""
        return sum(stream.verdicts[verdict] for stream in self.lossy.values())


VERDICTS = {
    TraceEvent.NIC_ACCEPT: Verdict.ACCEPT,
    TraceEvent.NACK_SENT: Verdict.REFUSE,
    TraceEvent.NIC_DROPPED: Verdict.DROP,
}
ANSWERS = {TraceEvent.ACK_SEEN: Verdict.ACCEPT, TraceEvent.NACK_SEEN: Verdict.REFUSE}
FOLLOWED = {
    TraceEvent.NIC_SEND_START,
    TraceEvent.NIC_RECV_START,
    TraceEvent.TIMEOUT,
    *VERDICTS,
    *ANSWERS,
}
