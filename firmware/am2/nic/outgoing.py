"""Outgoing messages: taken from send queues, sent, retransmitted, acknowledged, or returned to their endpoint."""

from __future__ import annotations

from collections import defaultdict, deque
from dataclasses import replace

from firmware.am2.nic.channels import SEQUENCES, Channels, Flight, Timers
from firmware.am2.nic.endpoints import Arriving, Endpoint, Endpoints, Sending
from firmware.am2.nic.layout import BLOCKS, FRAME, NOTES, STRIDE, Word, descriptor
from firmware.am2.nic.words import (
    CONTROL_WORDS,
    HEAD,
    LEAD,
    OWNED,
    SHORT_WORDS,
    TAG,
    Code,
    Head,
    Kind,
    Second,
    control_name,
    halves,
    name,
    tag_words,
)
from firmware.am2.options import Options
from firmware.common.nic import LedPackets
from firmware.verbs import Nic
from firmware.view import ClusterView
from pymodels.trace import TraceEvent

READY = 4
"""Number of messages that may wait for the send engine. Others stay in their queues, subject to turns."""


class Outgoing:
    """Outgoing messages of one NIC."""

    def __init__(
        self,
        nic: Nic,
        view: ClusterView,
        options: Options,
        port: LedPackets,
        endpoints: Endpoints,
        channels: Channels,
        timers: Timers,
    ) -> None:
        self._nic, self._me, self._routes, self._options = nic, view.me, view.routes, options
        self._port, self._endpoints, self._channels, self._timers = port, endpoints, channels, timers
        self._controls: deque[tuple[int, int, Code, int]] = deque()
        """Control packets waiting for the send engine: node, second word without size, code."""
        self._ready: deque[Flight] = deque()
        """Messages waiting for the send engine."""
        self._fetching: deque[Flight] = deque()
        """Messages whose payload is being fetched, in the port's order."""
        self._again: deque[Flight] = deque()
        """Messages to be retransmitted when the port has room for their payload."""
        self._aside = defaultdict[Endpoint, list[Flight]](list)
        """Messages taken from their queue without a channel: rejected as absent, or waiting for a place to return to.
        """
        self._controls_sent = 0

    # ---- from the queues

    async def take(self, endpoint: Endpoint, send: Sending) -> bool:
        """Take the next message of a queue. Return False if there is none, or if it cannot be sent now (held)."""
        nic, at = self._nic, endpoint.next(send)
        word, where, _, _, block, _ = nic.load_words(at, HEAD)
        if not word & OWNED:
            return False
        head, (node, _), (size, staged) = Head.decode(word), halves(where), halves(block)
        size = size if head.kind != Kind.SHORT else 0
        flaw = self._error_of(node, size, staged)
        channel = None if flaw else self._channels.free(node, send.queue)
        if not (self._endpoints.room(endpoint, endpoint.receives[1]) if flaw else channel and self._room(size)):
            await nic.work_on("am2_hold")
            send.held = True
            return False
        await nic.work_on("am2_take")
        nic.store(at, word & ~OWNED)  # otherwise the queue's next round would send it again
        number = send.taken
        send.taken += 1
        send.out.add(number)
        called = name(self._me, endpoint.number, send.queue, number)
        noted = NOTES + FRAME * endpoint.number + descriptor(0, send.queue, number)
        message = nic.message_at(noted, in_host=True)
        nic.trace(TraceEvent.NIC_NOTICED, called, endpoint.number, message=message)
        if channel is None:
            await self._return_to_sender(endpoint, send, number, flaw)
            return True
        channel.sequence = (channel.sequence + 1) % SEQUENCES
        count = min(head.arguments, SHORT_WORDS)
        flight = Flight(endpoint, send, number, called, node, count, size, staged, channel, message=message)
        channel.flight = flight
        await self._go(flight)
        return True

    async def resume(self, flight: Flight) -> None:
        """Resume a message that waits at its endpoint: return it, or send it on any free channel."""
        if flight.code is not Code.OK:
            await self._end(flight, flight.code)
            return
        channel = self._channels.free(flight.node, flight.send.queue)
        if channel is None or not self._room(flight.size):
            await self._timers.start(flight)
            return
        await self._nic.work("am2_resume")
        self.aside(flight.endpoint).remove(flight)
        channel.sequence = (channel.sequence + 1) % SEQUENCES
        channel.flight, flight.channel = flight, channel
        await self._go(flight)

    def _room(self, size: int) -> bool:
        """Return True if a message may be prepared for the send engine now."""
        return len(self._ready) < READY and (not size or self._port.room(size))

    def _error_of(self, node: int, size: int, block: int) -> Code:
        """Return the error code of a descriptor that cannot be sent, or OK. Contents are written by processes, and not
        trusted.
        """
        if node not in self._routes:
            return Code.UNREACHABLE
        return Code.BAD_LENGTH if size and (size > self._options.medium or block >= BLOCKS) else Code.OK

    async def _go(self, flight: Flight) -> None:
        """Fetch a message's payload, if any, and queue it for the send engine."""
        if flight.size:
            self._fetching.append(flight)
            address = flight.endpoint.staging + self._options.medium * flight.block
            self._nic.trace(TraceEvent.NIC_DMA_START, flight.name, flight.size, message=flight.message)
            await self._port.fetch(address, flight.size, flight.message)
        else:
            self._ready.append(flight)
        await self.launch()

    # ---- to the network

    def control(self, node: int, second: Second, code: Code, message: int) -> None:
        """Queue the reply to a message: an acknowledgement, or the reason of its rejection."""
        self._controls.append((node, second._replace(control=True).word(0), code, message))

    async def fetched(self) -> None:
        """Handle the end of a fetch: the payload of the oldest message is here."""
        self._ready.append(self._fetching.popleft())
        await self.launch()

    async def launched(self) -> None:
        """Handle a free port: launch the next packet, and continue retransmissions."""
        await self.launch()
        while self._again and (self._again[0].over or self._port.room(self._again[0].size)):
            flight = self._again.popleft()
            if not flight.over:
                await self._go(flight)

    async def launch(self) -> None:
        """Launch the next packet if the port is ready, control packets first."""
        if not self._port.ready():
            return
        if self._controls:
            await self._launch_control()
            return
        while self._ready:
            flight = self._ready.popleft()
            if not flight.over:
                await self._launch_message(flight)
                return
            if flight.size:
                await self._port.discard(flight.size)

    async def _launch_control(self) -> None:
        node, second, code, message = self._controls.popleft()
        await self._nic.work_on("am2_control")
        called = control_name(self._me, self._controls_sent)
        self._controls_sent += 1
        words = bytes([0, 0, 0, code]) + bytes(4 * CONTROL_WORDS - 4)
        sent = TraceEvent.ACK_SENT if code is Code.OK else TraceEvent.NACK_SENT
        self._nic.trace(sent, called, node, message=message)
        await self._port.launch(node, (called, second), len(words), words, message=message)

    async def _launch_message(self, flight: Flight) -> None:
        """Send a message. Its words are read from the frame, except those that were checked when it was taken."""
        nic, channel = self._nic, flight.channel
        assert channel is not None
        await nic.work("am2_launch_payload" if flight.size else "am2_launch")
        at = descriptor(flight.endpoint.frame, flight.send.queue, flight.number)
        head, arguments = nic.load_words(at, HEAD), nic.load_words(at + 4 * HEAD, flight.arguments)
        where = channel.node << 16 | head[1] & 0xFFFF
        lead = (head[0], where, *head[2:4], flight.size << 16, head[5], *tag_words(flight.endpoint.tag), *arguments)
        second = Second(flight.send.queue, channel.number, channel.sequence)
        flight.sent += 1
        if flight.sent == 1:
            nic.trace(TraceEvent.NIC_SEND_START, flight.name, flight.size + 4 * len(lead), message=flight.message)
        if flight.size:
            lead += (0,) * (HEAD + TAG + SHORT_WORDS - len(lead))
            header = flight.name, second.word(LEAD + flight.size)
            await self._port.launch_led(channel.node, header, lead, flight.size, flight.message)
        else:
            inline = b"".join(word.to_bytes(4, "big") for word in lead)
            header = flight.name, second.word(len(inline))
            await self._port.launch(channel.node, header, len(inline), inline, message=flight.message)
        await self._timers.start(flight)

    # ---- answers, and none

    async def answered(self, node: int, second: Second, code: Code) -> None:
        """Handle a control packet: the message is finished, or returned."""
        nic = self._nic
        channel = self._channels.out(node, second.queue, second.channel)
        flight = channel.flight if channel and channel.sequence == second.sequence else None
        if flight is None or not flight.sent:
            await nic.work("am2_answered_late")
            return
        await nic.work_on("am2_answered")
        seen = TraceEvent.ACK_SEEN if code is Code.OK else TraceEvent.NACK_SEEN
        nic.trace(seen, flight.name, node, message=flight.message)
        self._timers.stop(flight)
        if code is Code.ABSENT:
            await self._set_aside(flight, Code.OK)
        else:
            await self._end(flight, code)

    async def tick(self) -> None:
        """Handle expired time-outs: retransmit messages, or return them."""
        for flight in await self._timers.over():
            if flight.channel is None:
                await self.resume(flight)
            elif flight.sent > self._options.retries:
                await self._end(flight, Code.UNREACHABLE)
            else:
                await self._resend(flight)

    async def _resend(self, flight: Flight) -> None:
        nic = self._nic
        await nic.work("am2_resend")
        nic.store(Word.RESENT, nic.load(Word.RESENT) + 1)
        nic.trace(TraceEvent.RESEND, flight.name, flight.node, message=flight.message)
        if flight.size and not self._port.room(flight.size):
            self._again.append(flight)
        else:
            await self._go(flight)

    async def _end(self, flight: Flight, code: Code) -> None:
        """Finish a message and free its channel. With an error code, return it as soon as there is a place."""
        if code is not Code.OK and not await self._return_to_sender(flight.endpoint, flight.send, flight.number, code):
            await self._set_aside(flight, code)
            return
        self._detach(flight)
        if code is Code.OK:
            await self._nic.work("am2_freed")
            self._endpoints.give_back(flight.endpoint, flight.send, flight.number)

    async def _set_aside(self, flight: Flight, code: Code) -> None:
        """Remove a message from its channel, to wait for a time-out or until its endpoint is loaded."""
        await self._nic.work("am2_set_aside")
        self._detach(flight)
        waits = replace(flight, channel=None, sent=0, code=code, over=False)
        self.aside(flight.endpoint).append(waits)
        if flight.endpoint.resident:
            await self._timers.start(waits)

    def _detach(self, flight: Flight) -> None:
        """Remove a message from its channel or waiting list, and cancel its queued copies."""
        flight.over = True
        if flight.channel:
            flight.channel.flight = None
        else:
            self.aside(flight.endpoint).remove(flight)

    async def _return_to_sender(self, endpoint: Endpoint, send: Sending, number: int, code: Code) -> bool:
        """Return a message to its sender through the reply queue. Return False if the queue has no place."""
        nic, receive = self._nic, endpoint.receives[1]
        await nic.caught_up()
        at = self._endpoints.room(endpoint, receive)
        if at is None:
            return False
        await nic.work("am2_return")
        await nic.work("am2_return_word", STRIDE // 4)
        here = descriptor(endpoint.frame, send.queue, number)
        head = Head.decode(nic.load(here))._replace(returned=True, null=False, code=code)
        node, other = halves(nic.load(here + 4))
        where = name(node & 0xFF, other & 127, send.queue, number)
        nic.store_words(at + 4, (where, *nic.load_words(here + 8, STRIDE // 4 - 4)))
        receive.placed += 1
        receive.arriving.append(Arriving(at, head.word, done=True))
        nic.trace(TraceEvent.NIC_DROPPED, name(self._me, endpoint.number, send.queue, number), code)
        self._endpoints.report(endpoint, receive)
        self._endpoints.give_back(endpoint, send, number, returned=True)
        await self._endpoints.wake(endpoint)
        return True

    def forget(self, endpoint: Endpoint) -> None:
        """Abandon all messages in flight of a freed endpoint."""
        for flight in [*self.flying(endpoint), *self.aside(endpoint)]:
            self._timers.stop(flight)
            self._detach(flight)

    def aside(self, endpoint: Endpoint) -> list[Flight]:
        """Return the messages that wait at an endpoint, without channels."""
        return self._aside[endpoint]

    def flying(self, endpoint: Endpoint) -> list[Flight]:
        """Return the messages of an endpoint that have channels."""
        return [flight for flight in self._channels.flights() if flight.endpoint is endpoint]
