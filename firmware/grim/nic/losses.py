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
    """Answers that may be lost, come late, or come twice."""

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
        """By stream: sequence number of the oldest unanswered message."""
        self._answered = [0] * total
        """By stream: one bit a sequence number, of messages behind the oldest that are answered."""
        self._late: tuple[Channel, int] | None = None
        """Answered, but a copy of it is in the send engine."""
        self._full: list[Channel] = []
        """Channels whose next message finds no free sequence number."""

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
        ):  # 0: a reply, which has no copies
            return None
        return channel, slot

    async def finish(self, channel: Channel, slot: int) -> None:
        """Answered: it need not go again, the window goes on, and its place is free once no copy of it is leaving."""
        await self.nic.work("window_moves")
        streams, stream = self.streams, channel.stream[slot]
        if channel.state[slot] == WAITING:  # rolled back meanwhile
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
        """A message is answered: the window goes on to the oldest that is not."""
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
        """Whether one more message would take a sequence number that is in use. Only where the messages of a stream
        stand in several channels: in one channel the scoreboard is full before.
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
        """SEND_INT: a packet has left SRAM; it is free if it was answered before."""
        await self.transmitter.sent()
        if self._late is not None and not self.transmitter.has(self._late[0].key(self._late[1])):
            (channel, slot), self._late = self._late, None
            await self.free(channel, slot)

    def is_late(self, peer: int) -> bool:
        """Whether the send engine has a copy of a message for a NI, though that is answered."""
        return self._late is not None and self.order.peer(self._late[0].stream[self._late[1]]) == peer

    # ---- a NI that is down

    def _of(self, peer: int) -> list[int]:
        """The streams to a NI."""
        return [stream for stream in range(len(self._base)) if self.order.peer(stream) == peer]

    def owes(self, peer: int) -> bool:
        """Whether messages for a NI still wait."""
        return any(self.streams.waiting[stream] for stream in self._of(peer))

    async def close(self, peer: int) -> None:
        """Take back all that is meant for a NI: it is refused, and so is what comes."""
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
        """Nothing waits for a NI any more: its streams start again."""
        streams = self.streams
        self.ni.down.discard(peer)
        self.ni.tries[peer] = 0
        for stream in self._of(peer):
            streams.closed[stream] = False
            streams.sequence[stream] = streams.in_flight[stream] = streams.cursor[stream] = 0
            self._base[stream] = self._answered[stream] = self._age[stream] = 0

    async def refuse(self, channel: Channel, slot: int, stream: int) -> None:
        """A message for a NI that is down: its sender is told, then it is freed. While no more reports are taken, it
        waits.
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
