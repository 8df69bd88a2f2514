"""Answers on a network that loses and reorders packets, and streams to NIs that are down (see `timeouts`)."""

from __future__ import annotations

from firmware.grim.formats import COUNTER_MASK, Cause, Words
from firmware.grim.nic.answers import Answers
from firmware.grim.nic.channels import ANSWERED, SENT, WAITING, Channel, holder
from firmware.grim.nic.clock import TickingClock
from firmware.grim.nic.layout import Counter
from firmware.grim.nic.ni import Ni
from firmware.grim.nic.outgoing import Outgoing
from firmware.grim.nic.reports import Reports
from firmware.grim.nic.search import ChannelSearch
from firmware.grim.nic.transmitter import Transmitter


class LossyAnswers(Answers):
    """Processing of answers that may be lost, late or duplicated."""

    _strange_counter = Counter.STALE

    def __init__(
        self,
        ni: Ni,
        outgoing: Outgoing,
        transmitter: Transmitter,
        reports: Reports,
        clock: TickingClock,
        search: ChannelSearch,
    ) -> None:
        super().__init__(ni, outgoing, transmitter, reports, clock, search)
        self._age, self._forget = clock.age, clock.forget
        total = ni.layout.streams
        self._base = [0] * total
        """Sequence number of the oldest unanswered message, by stream."""
        self._answered = [0] * total
        """Bit mask of answered sequence numbers after the oldest unanswered one, by stream."""
        self._late: tuple[Channel, int] | None = None
        """Answered message of which a copy is still in the send engine, or None."""
        self._full: list[Channel] = []
        """Channels whose next message has no free sequence number."""

    # ---- answers

    def _message(self, answer: Words) -> tuple[Channel, int] | None:
        at = holder(self.outgoing.all, self.outgoing.own.index, answer.token)
        if at is None:
            return None
        channel, slot = at
        order, stream, state = self.order, channel.stream[slot], channel.state[slot]
        if state != SENT and not (state == WAITING and channel.again[slot]):
            return None
        meant = channel.sequence[slot] == answer.sequence and order.peer(stream) == answer.source
        if not meant or (
            answer.type and not order.is_to(stream, answer.channel_meant)
        ):  # type 0: completed read, not an answer packet
            return None
        return channel, slot

    async def finish(self, channel: Channel, slot: int) -> None:
        """Complete an answered message: cancel its retransmission, advance the window, and free it once no copy is
        leaving.
        """
        await self.nic.work("window_moves")
        streams, stream = self.streams, channel.stream[slot]
        if channel.state[slot] == WAITING:  # rolled back before the answer arrived
            streams.waiting[stream] -= 1
            streams.in_flight[stream] += 1
        key = channel.key(slot)
        self.transmitter.forget(key)
        self._move_base(stream, channel.sequence[slot])
        if self.transmitter.has(key):
            channel.state[slot] = ANSWERED
            self._late = (channel, slot)
            await self.nic.work("answer_late")
        else:
            await self.free(channel, slot)

    def _move_base(self, stream: int, sequence: int) -> None:
        """Mark a message as answered and advance the window to the oldest unanswered message."""
        base, answered = self._base[stream], self._answered[stream] | 1 << sequence
        while answered >> base & 1:
            answered ^= 1 << base
            base = base + 1 & COUNTER_MASK
            self.streams.in_flight[stream] -= 1
            self._age[stream] = 0
        self._base[stream], self._answered[stream] = base, answered
        for channel in self._full:
            self._unblock(channel)
        self._full.clear()

    def is_full(self, channel: Channel, stream: int) -> bool:
        """Return True if one more message of a stream would reuse a sequence number that is still in use.

        This occurs only if the messages of a stream are in several channels. With a single channel the scoreboard fills
        first.
        """
        if not self.order.spans_channels:
            return False
        full = (self.streams.sequence[stream] - self._base[stream] & COUNTER_MASK) == COUNTER_MASK
        if full and channel not in self._full:
            self._full.append(channel)
        return full

    async def _nack(self, answer: Words) -> None:
        message = self._message(answer)
        if message is None or message[0].state[message[1]] != SENT:
            await self._strange()
        else:
            await super()._nack(answer)

    async def sent(self) -> None:
        """Handle SEND_INT: a packet has left SRAM. Free its message if it was already answered."""
        await self.transmitter.sent()
        if self._late is not None and not self.transmitter.has(self._late[0].key(self._late[1])):
            (channel, slot), self._late = self._late, None
            await self.free(channel, slot)

    def is_late(self, peer: int) -> bool:
        """Return True if the send engine has a copy of an already answered message for a NI."""
        return self._late is not None and self.order.peer(self._late[0].stream[self._late[1]]) == peer

    # ---- a NI that is down

    def _of(self, peer: int) -> list[int]:
        """Return the streams to a NI."""
        return [stream for stream in range(len(self._base)) if self.order.peer(stream) == peer]

    def owes(self, peer: int) -> bool:
        """Return True if messages for a NI still wait."""
        return any(self.streams.waiting[stream] for stream in self._of(peer))

    async def close(self, peer: int) -> None:
        """Close the streams to a NI: all messages in flight and all new ones fail at their sender."""
        streams = self.streams
        self.ni.down.add(peer)
        for stream in self._of(peer):
            if not streams.closed[stream]:
                oldest = self.order.oldest_sent(stream)
                if oldest is not None:
                    await self.roll_back(*oldest)
                streams.closed[stream] = True
                self._forget(stream)
                streams.wake(stream)

    def open(self, peer: int) -> None:
        """Reopen the streams to a NI, for which no message waits, at sequence number 0."""
        streams = self.streams
        self.ni.down.discard(peer)
        self.ni.tries[peer] = 0
        for stream in self._of(peer):
            streams.closed[stream] = False
            streams.sequence[stream] = streams.in_flight[stream] = streams.cursor[stream] = 0
            self._base[stream] = self._answered[stream] = self._age[stream] = 0

    async def refuse(self, channel: Channel, slot: int, stream: int) -> None:
        """Fail a message for a NI that is down: report it to its sender and free it, or let it wait while reports are
        full.
        """
        streams, reports = self.streams, self.reports
        if reports.full_for(channel):
            await self.clock.later(stream)
            return
        streams.passed(channel, slot, stream)
        self._move_base(stream, channel.sequence[slot])
        self.ni.count(Counter.UNREACHABLE)
        await self.nic.work("error_seen")
        await reports.failed(channel, slot, Cause.HOST_DOWN)
        if self.transmitter.has(channel.key(slot)):
            channel.state[slot] = ANSWERED
            self._late = (channel, slot)
        else:
            await self.free(channel, slot)
        streams.wake(stream)
