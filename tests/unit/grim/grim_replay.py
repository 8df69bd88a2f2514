"""Holds what GRIM's firmware did against the reference models: every packet sent, every verdict, every answer seen.

A replay takes the packets that left each node and the trace, of the machine or of the RTL, and needs nothing else.
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
"""What endpoints inject is not followed: they always have more."""


def is_message(packet: bytes) -> bool:
    """Whether a packet, its route taken off, is one that is sequenced."""
    return packet[4] >> 2 < grim.FIRST_CONTROL


def without_route(packet: bytes) -> bytes:
    """A packet from its type on."""
    at = 0
    while packet[at] & 0x80:
        at += 1
    return packet[at:]


@dataclass(frozen=True)
class Sent:
    """A message on its way."""

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
        """By source and destination."""
        self.meant: dict[tuple[int, int], Sent] = {}
        """By node and key: the message that has it."""
        self._from: dict[int, int] = {}

    def run(self, records: Iterable[tuple[int, int, int, int]]) -> None:
        """Follow trace records in the order of time: unit, event, packet, argument."""
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
                verdict = Verdict.AGAIN
            if verdict is not Verdict.DROP or argument != Counter.BAD_CRC:
                self.arrived(self.wires[self._from[node], node], key, verdict)
        elif event in ANSWERS:
            self.answered(self.meant[node, key], ANSWERS[event])
        else:
            self.expired(self.meant[node, key])

    def _left(self, node: int, key: int) -> None:
        """The firmware has handed its next message to the send engine: the next packet that was on its wire."""
        data = self._packets[node].popleft()
        assert int.from_bytes(data[:4], "big") == key, f"node {node}: {key:#x} was sent, {data[:4].hex()} left"
        header = grim.unpack(data)
        name = (header.channel >> 8, node, header.destination >> 8, header.channel & 0xFF)
        if self._lane is not None:
            name = (self._lane(header.channel >> 8), node, header.destination >> 8, 0)
        sent = self.meant[node, key] = Sent(key, name, self.sent(name, header.sequence))
        self.wires[node, name[2]].append(sent)

    def sent(self, name: Name, sequence: int) -> int:
        """A message of a stream was sent; its number."""
        stream = self.streams.setdefault(name, Stream(str(name), self.window, ENDLESS))
        return stream.send(stream.next + grim.distance(sequence, stream.next & grim.COUNTER_MASK))

    def arrived(self, wire: deque[Sent], key: int, verdict: Verdict) -> None:
        """A message has arrived, and the receiver has come to a verdict."""
        sent = wire.popleft()
        assert sent.key == key, f"{sent.name}: packet {sent.key:#x} left, {key:#x} arrived"
        self.streams[sent.name].arrive(did=verdict)

    def answered(self, sent: Sent, verdict: Verdict) -> None:
        """The sender has seen an answer."""
        self.streams[sent.name].answer(verdict)
        if verdict is Verdict.REFUSE:
            self.rolled_back.add(sent.name)

    def expired(self, sent: Sent) -> None:
        """The sender went back to a message without an answer, which it must not without the extension."""
        raise AssertionError(f"{sent.name}: a time-out of message {sent.number}")


class LossyReplay(Replay):
    """The same where packets vanish, with the time-out extension."""

    def __init__(self, packets: Mapping[int, Iterable[bytes]], window: int, lane: Lane | None = None) -> None:
        super().__init__(packets, window, lane)
        self.lossy: dict[Name, LossyStream] = {}

    def sent(self, name: Name, sequence: int) -> int:
        """See `Replay`."""
        stream = self.lossy.setdefault(name, LossyStream(str(name), self.window, ENDLESS))
        return stream.send(stream.next + grim.distance(sequence, stream.next & grim.COUNTER_MASK))

    def arrived(self, wire: deque[Sent], key: int, verdict: Verdict) -> None:
        """See `Replay`. What left before it and did not arrive is lost."""
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
        """How often receivers came to a verdict."""
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
