"""What becomes of a message that has arrived, and what is answered: the receiving side of go-back-N (paper 000, 4.2).

A message is accepted when its number is the expected one of its stream and there is room for it; the first that finds
none is answered by a NACK, and what follows it is dropped silently until it returns. What can never succeed is answered
by an ERROR (readings B5).
"""

from __future__ import annotations

from firmware.nic.grim.layout import Counter
from firmware.nic.grim.ni import Ni
from firmware.nic.grim.sending import Sender
from pymodels.formats.grim import COUNTER_BITS, COUNTER_MASK, MAX_CHANNELS, MAX_WINDOW, Lack, MessageType, control
from pymodels.trace import TraceEvent


class Verdicts:
    """Incoming sequence numbers, and the answers."""

    def __init__(self, ni: Ni, sender: Sender) -> None:
        self.ni, self.nic, self.layout, self.sender = ni, ni.nic, ni.layout, sender
        self._per_ni = ni.options.sequencing == "per-ni"
        total = self.layout.streams
        self.expected = [0] * total
        """Sequence number that a stream (`stream`) must bring next."""
        self.refusing = [False] * total
        """A NACK is out and its message has not returned."""
        self._lossy = ni.options.timeout_us > 0
        self.failed: dict[int, int] = {}
        """With time-outs: why messages were answered by an ERROR, by stream and sequence number."""

    def source(self, stream: int) -> int:
        """The NI that a stream comes from."""
        return (stream if self._per_ni else stream // self.layout.targets) % self.ni.nodes

    def forget(self, peer: int) -> None:
        """A NI begins anew: so do the streams that come from it."""
        for stream in range(len(self.expected)):
            if self.source(stream) == peer:
                self.expected[stream], self.refusing[stream] = 0, False
        self.failed = {name: cause for name, cause in self.failed.items() if self.source(name >> COUNTER_BITS) != peer}

    def release(self, buffer: int) -> None:
        """A receive buffer is free again."""
        raise NotImplementedError

    def in_order(self, stream: int, key: int) -> None:
        """The number of a message in its stream is taken."""
        self.expected[stream] = key + 1 & COUNTER_MASK
        self.refusing[stream] = False
        if self.failed:
            self.failed.pop(stream << COUNTER_BITS | key & COUNTER_MASK, None)

    def take(self, key: int, source: int, stream: int) -> None:
        """A message is accepted."""
        self.in_order(stream, key)
        self.nic.trace(TraceEvent.NIC_ACCEPT, key, source)

    async def acknowledge(self, key: int, source: int, stream: int) -> None:
        """Answer an accepted message."""
        await self.nic.work("send_ack")
        self.sender.answer(source, self.answer_words(MessageType.ACK, key, stream))
        self.nic.trace(TraceEvent.ACK_SENT, key, source)
        self.ni.count(Counter.ACCEPTED)

    def answer_words(self, kind: MessageType, key: int, stream: int, cause: int = 0) -> tuple[int, int]:
        """The control message that answers a message: of which stream, its destination channel tells."""
        channel = stream % self.layout.targets & MAX_CHANNELS - 1
        return control(kind, key >> 8 & COUNTER_MASK, key & COUNTER_MASK, self.ni.me, cause, channel)

    async def refuse(self, buffer: int, key: int, source: int, stream: int, lack: Lack = Lack.ENDPOINT) -> None:
        """No room: a NACK, and silence for the stream until this message returns."""
        self.refusing[stream] = True
        await self.nic.work("send_nack")
        self.sender.answer(source, self.answer_words(MessageType.NACK, key, stream, lack))
        self.nic.trace(TraceEvent.NACK_SENT, key, source)
        self.ni.count(Counter.NACKS_SENT)
        self.release(buffer)

    async def _out_of_order(self, buffer: int, key: int, stream: int) -> None:
        """Later than a refused one: dropped silently. Otherwise something was lost, which this network does not do."""
        ahead = key - self.expected[stream] & COUNTER_MASK
        expected = self.refusing[stream] and ahead <= MAX_WINDOW
        self.ni.count(Counter.DROPPED if expected else Counter.OUT_OF_SEQUENCE)
        self.nic.trace(TraceEvent.NIC_DROPPED, key, Counter.DROPPED if expected else Counter.OUT_OF_SEQUENCE)
        await self.nic.work("receive_dropped")
        self.release(buffer)

    async def _again(self, buffer: int, words: tuple[int, int, int, int], stream: int) -> None:
        """A copy of a message that is here already: its answer may have been lost, so it is answered once more. The
        answer to a remote read is its reply, which does not get lost.
        """
        key, w1, _, _ = words
        source = w1 >> 8 & 0xFF
        await self.nic.work("receive_again")
        cause = self.failed.get(stream << COUNTER_BITS | key & COUNTER_MASK, 0)
        if cause or w1 >> 26 != MessageType.RM_RV:
            kind = MessageType.ERROR if cause else MessageType.ACK
            self.sender.answer(source, self.answer_words(kind, key, stream, cause))
            self.nic.trace(TraceEvent.ACK_SENT, key, source)
        self.ni.count(Counter.DUPLICATES)
        self.nic.trace(TraceEvent.NIC_DROPPED, key, Counter.DUPLICATES)
        self.release(buffer)

    async def impossible(self, buffer: int, key: int, source: int, stream: int, cause: int) -> None:
        """In order, but nobody here can ever take it: an ERROR frees it at the sender."""
        self.in_order(stream, key)
        await self.fail(buffer, key, source, stream, cause)

    async def fail(self, buffer: int, key: int, source: int, stream: int, cause: int) -> None:
        """The ERROR for a message whose number is taken."""
        await self.nic.work("send_error")
        self.sender.answer(source, self.answer_words(MessageType.ERROR, key, stream, cause))
        if self._lossy:
            self.failed[stream << COUNTER_BITS | key & COUNTER_MASK] = cause
        self.ni.count(Counter.ERRORS_SENT)
        self.release(buffer)

    async def _strange(self, buffer: int, key: int) -> None:
        """A stream that this NI does not have."""
        self.ni.count(Counter.STRANGE)
        self.nic.trace(TraceEvent.NIC_DROPPED, key, Counter.STRANGE)
        await self.nic.work("receive_dropped")
        self.release(buffer)
