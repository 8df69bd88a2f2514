"""Incoming packets: checked, delivered to their endpoint, and acknowledged."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from firmware.am2.nic.channels import SEQUENCES, Channels, ReceiverChannel
from firmware.am2.nic.endpoints import Arriving, Endpoint, Endpoints, Receiving
from firmware.am2.nic.layout import BLOCKS_A_QUEUE, FRAME, NOTES, STRIDE, Word, descriptor
from firmware.am2.nic.outgoing import Outgoing
from firmware.am2.nic.words import HEAD, LEAD, OWNED, SHORT_WORDS, TAG, Code, Head, Queue, Second, halves
from firmware.am2.options import Options
from firmware.common.nic import LedPackets
from firmware.verbs import Nic
from firmware.view import ClusterView
from pymodels.trace import TraceEvent

REPLY_TAG = STRIDE - 4 * TAG
"""Offset of the source's tag in a descriptor."""


@dataclass
class IncomingMessage:
    """Message being delivered to its endpoint."""

    source: int
    name: int
    second: Second
    heard: ReceiverChannel
    endpoint: Endpoint
    receive: Receiving
    arriving: Arriving
    message: int
    """Number of the message in the trace."""


class Incoming:
    """Incoming packets of one NIC."""

    def __init__(
        self,
        nic: Nic,
        view: ClusterView,
        options: Options,
        port: LedPackets,
        endpoints: Endpoints,
        channels: Channels,
        outgoing: Outgoing,
    ) -> None:
        self._nic, self._nodes, self._options, self._port = nic, len(view.names), options, port
        self._endpoints, self._channels, self._outgoing = endpoints, channels, outgoing
        self._delivering: deque[IncomingMessage] = deque()
        """Messages whose payload is being moved to the host."""

    async def arrived(self) -> None:
        """Handle a received packet. A damaged packet is dropped and counted."""
        head, nic = self._port.head(), self._nic
        second = Second.decode(head.header[1])
        heard = self._channels.heard(head.source, second.channel) if head.good and head.source < self._nodes else None
        least = 4 * (HEAD + TAG)
        if heard is None or head.size < (4 if second.control else least) or head.size > LEAD + self._options.medium:
            await nic.work("am2_bad")
            self._count(Word.BAD)
        elif second.control:
            await nic.work_on("am2_control_in")
            (code,) = self._port.words(1)
            await self._outgoing.answered(head.source, second, Code(min(code, max(Code))))
        else:
            nic.trace(TraceEvent.NIC_RECV_START, head.header[0], head.source, message=head.message)
            await self._message(head.source, head.header[0], second, heard, head.size - least)
        await self._port.drop()
        await self._outgoing.launch()

    async def _message(self, source: int, name: int, second: Second, heard: ReceiverChannel, behind: int) -> None:
        """Handle a message; `behind` is the number of bytes after its tag."""
        nic = self._nic
        await nic.work("am2_arrived")
        if not 0 < (second.sequence - heard.sequence) % SEQUENCES < SEQUENCES // 2:
            await self._repeat_reply(source, second, heard)
            return
        words = self._port.words(HEAD + TAG)
        code, endpoint = self._find_endpoint(words)
        if endpoint is None or code is not Code.OK:
            await self._reject(source, second, heard, code)
            return
        if not endpoint.resident or endpoint.asleep:
            await nic.work("am2_special")
        if not endpoint.resident:
            await self._absent(source, second, heard, endpoint)
            return
        receive = endpoint.receives[second.queue]
        at = self._endpoints.room(endpoint, receive)
        size = min(words[4] >> 16, max(behind - 4 * SHORT_WORDS, 0))
        block = self._endpoints.block(endpoint, receive) if size else 0
        if at is None or block is None:
            await self._full(source, second, heard)
            return
        arriving, message = Arriving(at, words[0]), self._port.head().message
        coming = IncomingMessage(source, name, second, heard, endpoint, receive, arriving, message)
        await self._place(coming, words, behind)
        if size:
            await self._payload(endpoint, receive, at, block, size)
        else:
            await self._finish(self._delivering.pop())

    def _find_endpoint(self, words: tuple[int, ...]) -> tuple[Code, Endpoint | None]:
        """Return the endpoint that a message names, and OK if it accepts the message's tag."""
        endpoint = self._endpoints.find(halves(words[1])[1])
        if endpoint is None:
            return Code.BAD_ENDPOINT, None
        return (Code.OK if endpoint.takes(words[2] << 32 | words[3]) else Code.BAD_TAG), endpoint

    async def _place(self, coming: IncomingMessage, words: tuple[int, ...], behind: int) -> None:
        """Write the message into the next descriptor of the receive queue, except the word that reports it."""
        nic, receive, at = self._nic, coming.receive, coming.arriving.address
        count = min(Head.decode(words[0]).arguments, SHORT_WORDS, behind // 4)
        arguments = self._port.words(count)
        await nic.work_on("am2_place")
        if count:
            await nic.work_on("am2_place_word", count)
        coming.heard.sequence, coming.heard.pending = coming.second.sequence, True
        nic.store_words(at + 4, (coming.name, *words[2:HEAD], *arguments))
        nic.store_words(at + REPLY_TAG, words[HEAD:])
        noted = NOTES + FRAME * coming.endpoint.number + descriptor(0, receive.queue, receive.placed)
        nic.put_message(noted, coming.message, in_host=True)
        coming.arriving.word |= OWNED
        receive.placed += 1
        receive.arriving.append(coming.arriving)
        self._delivering.append(coming)
        nic.trace(TraceEvent.NIC_ACCEPT, coming.name, coming.source, message=coming.message)

    async def _payload(self, endpoint: Endpoint, receive: Receiving, at: int, block: int, size: int) -> None:
        """Move the payload into a staging block, and name the block in the descriptor."""
        nic, coming = self._nic, self._delivering[-1]
        await nic.work("am2_payload")
        nic.store(at + 16, size << 16 | block)
        receive.blocks[receive.staged % BLOCKS_A_QUEUE] = receive.placed - 1
        receive.staged += 1
        self._port.words(SHORT_WORDS - min(Head.decode(coming.arriving.word).arguments, SHORT_WORDS))
        nic.trace(TraceEvent.NIC_DMA_START, coming.name, size, message=coming.message)
        await self._port.deliver(endpoint.staging + self._options.medium * block, size)

    def fills(self, number: int) -> bool:
        """Return True if payload is being moved to staging blocks of an endpoint."""
        return any(one.endpoint.number == number for one in self._delivering)

    async def delivered(self) -> None:
        """Handle the end of a delivery: the payload of the oldest message is in its block."""
        await self._finish(self._delivering.popleft())
        await self._outgoing.launch()

    async def _finish(self, coming: IncomingMessage) -> None:
        """Report a complete message to its endpoint, then acknowledge it.

        If the endpoint was freed meanwhile, the message is returned to its sender.
        """
        if self._endpoints.find(coming.endpoint.number) is not coming.endpoint:
            coming.heard.pending = False
            await self._reject(coming.source, coming.second, coming.heard, Code.BAD_ENDPOINT, coming.message)
            return
        await self._nic.work("am2_deliver")
        coming.arriving.done = True
        coming.heard.pending = False
        coming.heard.code = Code.OK
        self._endpoints.report(coming.endpoint, coming.receive)
        self._nic.trace(TraceEvent.NIC_RECV_DONE, coming.name, message=coming.message)
        self._outgoing.control(coming.source, coming.second, Code.OK, coming.message)
        await self._endpoints.wake(coming.endpoint)

    # ---- those that do not go in

    async def _repeat_reply(self, source: int, second: Second, heard: ReceiverChannel) -> None:
        """Acknowledge a duplicate again, unless the first acknowledgement is pending. Older messages are ignored."""
        await self._nic.work("am2_duplicate")
        self._count(Word.DUPLICATES)
        if second.sequence == heard.sequence and not heard.pending:
            self._outgoing.control(source, second, heard.code, self._port.head().message)

    async def _reject(
        self, source: int, second: Second, heard: ReceiverChannel, code: Code, message: int | None = None
    ) -> None:
        """Return a message to its sender; by default the message of the packet at the head of the port."""
        await self._nic.work("am2_refuse")
        self._count(Word.REFUSED)
        heard.sequence, heard.code = second.sequence, code
        self._outgoing.control(source, second, code, self._port.head().message if message is None else message)

    async def _absent(self, source: int, second: Second, heard: ReceiverChannel, endpoint: Endpoint) -> None:
        """Handle a message for an absent endpoint: request its frame, and let the sender transmit it later."""
        if self._options.absent == "nack":
            await self._reject(source, second, heard, Code.ABSENT)
        else:
            await self._nic.work("am2_full")
            self._count(Word.DROPPED)
        await self._endpoints.request_frame(endpoint)

    async def _full(self, source: int, second: Second, heard: ReceiverChannel) -> None:
        """Handle a message for a full queue, which is retransmitted after the sender's time-out.

        A reply is never returned for this reason: its receiver polls, and then has room.
        """
        if self._options.full == "nack" and second.queue == Queue.REQUEST_SEND:
            await self._reject(source, second, heard, Code.CONGESTION)
            return
        await self._nic.work("am2_full")
        self._count(Word.DROPPED)

    def _count(self, word: Word) -> None:
        self._nic.store(word, self._nic.load(word) + 1 & 0xFFFFFFFF)
