"""Acceptance and rejection of received messages, and their answers: the receiver of go-back-N (paper 000, 4.2).

A message is accepted when its number is the expected one of its stream and it has room. The first message without room
is answered by a NACK, and its successors are dropped silently until it returns. A message that can never succeed is
answered by an ERROR (readings B5).
"""

from __future__ import annotations

from firmware.grim.formats import (
    COUNTER_BITS,
    COUNTER_MASK,
    MAX_CHANNELS,
    MAX_WINDOW,
    Lack,
    MessageType,
    Words,
    control,
)
from firmware.grim.nic.delivery.buffers import Buffers
from firmware.grim.nic.layout import NONE, Counter
from firmware.grim.nic.ni import Ni
from firmware.grim.nic.transmitter import Transmitter
from pymodels.trace import TraceEvent


class Verdicts:
    """Sequence numbers of incoming streams, and the answers to their messages."""

    def __init__(self, ni: Ni, transmitter: Transmitter, buffers: Buffers) -> None:
        self._ni, self._nic, self._layout = ni, ni.nic, ni.layout
        self._transmitter, self._buffers = transmitter, buffers
        self._per_ni = ni.options.sequencing == "per-ni"
        total = ni.layout.streams
        self.expected = [0] * total
        """Expected sequence number of each stream."""
        self.refusing = [False] * total
        """True from a NACK until its message returns, by stream."""
        self.stalled = NONE
        """Stream whose remote memory message waits for a translation and must not be overtaken, or NONE."""
        self.failed: dict[int, int] = {}
        """Cause of each message answered by an ERROR, by stream and sequence number. Used with time-outs only."""

    def source(self, stream: int) -> int:
        """Return the VNN of a stream's sender."""
        return (stream if self._per_ni else stream // self._layout.targets) % self._ni.nodes

    def forget(self, peer: int) -> None:
        """Restart the incoming streams of a restarted NI."""
        for stream in range(len(self.expected)):
            if self.source(stream) == peer:
                self.expected[stream], self.refusing[stream] = 0, False
        self.failed = {name: cause for name, cause in self.failed.items() if self.source(name >> COUNTER_BITS) != peer}

    def stream(self, head: Words) -> int:
        """Return the incoming stream that a header names, or NONE if it is unknown."""
        origin, source, target, nodes = head.source_channel, head.source, head.channel, self._ni.nodes
        targets = self._layout.targets if head.type >= MessageType.MULTICAST else self._ni.options.channels
        itself = source == self._ni.me and not self._ni.to_itself
        if origin >= self._layout.sources or target >= targets or source >= nodes or itself:
            return NONE
        if self._per_ni:
            return source + nodes * self._layout.lane(origin)
        return (origin * nodes + source) * self._layout.targets + target

    def in_order(self, stream: int, key: int) -> None:
        """Advance a stream past a message."""
        self.expected[stream] = key + 1 & COUNTER_MASK
        self.refusing[stream] = False
        if self.failed:
            self.failed.pop(stream << COUNTER_BITS | key & COUNTER_MASK, None)

    def take(self, key: int, source: int, stream: int, message: int) -> None:
        """Accept a message."""
        self.in_order(stream, key)
        self._nic.trace(TraceEvent.NIC_ACCEPT, key, source, message=message)

    async def acknowledge(self, key: int, source: int, stream: int, message: int) -> None:
        """Send the ACK for an accepted message."""
        await self._nic.work("send_ack")
        self.answer(MessageType.ACK, source, key, stream, message)
        self._nic.trace(TraceEvent.ACK_SENT, key, source, message=message)
        self._ni.count(Counter.ACCEPTED)

    def answer(self, kind: MessageType, source: int, key: int, stream: int, message: int, cause: int = 0) -> None:
        """Send the control message that answers a message. Its channel field identifies the stream."""
        channel = stream % self._layout.targets & MAX_CHANNELS - 1
        meant = Words(key, 0)
        words = control(kind, meant.token, meant.sequence, self._ni.me, cause, channel)
        self._transmitter.answer(source, words, message)

    async def refuse(self, buffer: int, key: int, source: int, stream: int, lack: Lack = Lack.ENDPOINT) -> None:
        """Reject a message for lack of room: send a NACK, and ignore its stream until the message returns."""
        self.refusing[stream] = True
        await self._nic.work("send_nack")
        message = self._buffers.message[buffer]
        self.answer(MessageType.NACK, source, key, stream, message, lack)
        self._nic.trace(TraceEvent.NACK_SENT, key, source, message=message)
        self._ni.count(Counter.NACKS_SENT)
        self._buffers.release(buffer)

    async def out_of_order(self, buffer: int, key: int, stream: int) -> None:
        """Drop a successor of a rejected message. Any other wrong number is counted as an error, since a lossless
        network has none.
        """
        ahead = key - self.expected[stream] & COUNTER_MASK
        expected = self.refusing[stream] and ahead <= MAX_WINDOW
        counter = Counter.DROPPED if expected else Counter.OUT_OF_SEQUENCE
        self._ni.count(counter)
        self._nic.trace(TraceEvent.NIC_DROPPED, key, counter, message=self._buffers.message[buffer])
        await self._nic.work("receive_dropped")
        self._buffers.release(buffer)

    async def again(self, buffer: int, head: Words, stream: int) -> None:
        """Answer a duplicate again, because its first answer may be lost. The answer to a remote read is its reply."""
        key, source, message = head.w0, head.source, self._buffers.message[buffer]
        await self._nic.work("receive_again")
        cause = self.failed.get(stream << COUNTER_BITS | key & COUNTER_MASK, 0)
        if cause or head.type != MessageType.RM_RV:
            kind = MessageType.ERROR if cause else MessageType.ACK
            self.answer(kind, source, key, stream, message, cause)
            self._nic.trace(TraceEvent.ACK_SENT, key, source, message=message)
        self._ni.count(Counter.DUPLICATES)
        self._nic.trace(TraceEvent.NIC_DROPPED, key, Counter.DUPLICATES, message=message)
        self._buffers.release(buffer)

    async def impossible(self, buffer: int, key: int, source: int, stream: int, cause: int) -> None:
        """Accept an in-order message that can never succeed, and answer it by an ERROR."""
        self.in_order(stream, key)
        await self.fail(buffer, key, source, stream, cause)

    async def fail(self, buffer: int, key: int, source: int, stream: int, cause: int) -> None:
        """Send the ERROR for an accepted message and free its buffer."""
        await self._nic.work("send_error")
        self.answer(MessageType.ERROR, source, key, stream, self._buffers.message[buffer], cause)
        if self._ni.lossy:
            self.failed[stream << COUNTER_BITS | key & COUNTER_MASK] = cause
        self._ni.count(Counter.ERRORS_SENT)
        self._buffers.release(buffer)

    async def strange(self, buffer: int, key: int) -> None:
        """Drop a message of an unknown stream."""
        self._ni.count(Counter.STRANGE)
        self._nic.trace(TraceEvent.NIC_DROPPED, key, Counter.STRANGE, message=self._buffers.message[buffer])
        await self._nic.work("receive_dropped")
        self._buffers.release(buffer)
