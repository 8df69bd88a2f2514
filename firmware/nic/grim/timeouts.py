"""The time-out extension for networks that lose packets (paper 000, 4.2.1; option `timeout_us`).

Data and answers may vanish, or arrive damaged and be dropped by CRC-8. A stream whose oldest unanswered message gets no
answer for the time-out is rolled back to that message and sent again; the receiver answers what it has already once
more, so a lost answer is repaired by the copy. Delivery stays exactly once and in order because

- the window counts from the oldest unanswered message on, so that what arrives is less than half the sequence
  numbers before or behind what is expected;
- whatever arrives late, message or answer, is told from a later one by token and sequence: those come again when 256
  further messages of the stream have been sent, so a network may reorder as long as no packet is passed by 128 messages
  of its own stream; between streams an answer tells them apart by the channel it names;
- an answer counts also when its message was rolled back meanwhile; the place in the queue is free when no copy of it
  is on its way to the link.

The clock is one periodic tick, a quarter of the time-out, while anything is unanswered. It shares the one timer with
the retry delay. A NI that gives no sign of life for `timeout_tries` time-outs is down: what is meant for it is freed
and reported as an ERROR to its sender, until it is connected again (`connections`).
"""

from __future__ import annotations

from firmware.nic.grim.answers import HALF, TICKS_PER_US, TIME, Answers
from firmware.nic.grim.channels import ANSWERED, SENT, WAITING, Channel, holder
from firmware.nic.grim.layout import Counter
from firmware.nic.grim.ni import Ni
from firmware.nic.grim.receiving import Receiver
from firmware.nic.grim.sending import Sender
from pymodels.formats.grim import COUNTER_MASK, Cause
from pymodels.registers import Reg
from pymodels.trace import TraceEvent

LOOKS = 4
"""Ticks of a time-out."""


class LossyAnswers(Answers):
    """Answers and time on a network that loses packets."""

    strange = Counter.STALE

    def __init__(self, ni: Ni, sender: Sender, receiver: Receiver) -> None:
        super().__init__(ni, sender, receiver)
        total = len(sender.streams.sequence)
        self._base = [0] * total
        """By stream: sequence number of the oldest unanswered message."""
        self._answered = [0] * total
        """By stream: one bit a sequence number, of messages behind the oldest that are answered."""
        self._age = [0] * total
        """By stream: ticks since the oldest unanswered message changed."""
        self._tries = [0] * ni.nodes
        """By NI: time-outs since it was last heard."""
        self._watched: dict[int, None] = {}
        """Streams with messages in flight, and some that had."""
        self._tick = max(TICKS_PER_US * ni.options.timeout_us // LOOKS, 1)
        self._tick_due: int | None = None
        self._late: tuple[Channel, int] | None = None
        """Answered, but a copy of it is in the send engine."""
        self._full: list[Channel] = []
        """Channels whose next message finds no free sequence number."""
        sender.on_sent = self._sent
        if len(sender.channels) > 1 and sender.streams.tokens is not None:
            sender.is_full = self._is_full
        sender.refuse = self.refuse

    # ---- answers

    def _message(self, key: int, w1: int) -> tuple[Channel, int] | None:
        at = holder(self.sender.streams.channels, self.sender.own.index, key >> 8 & COUNTER_MASK)
        if at is None:
            return None
        channel, slot = at
        streams, stream, state = self.sender.streams, channel.stream[slot], channel.state[slot]
        if state != SENT and not (state == WAITING and channel.again[slot]):
            return None
        meant = channel.sequence[slot] == key & COUNTER_MASK and streams.peer(stream) == w1 >> 8 & 0xFF
        if not meant or (w1 >> 26 and not streams.is_to(stream, w1 >> 16 & 0x1F)):  # 0: a reply, which has no copies
            return None
        self._tries[w1 >> 8 & 0xFF] = 0
        return channel, slot

    async def finish(self, channel: Channel, slot: int) -> None:
        """Answered: it need not go again, the window goes on, and its place is free once no copy of it is leaving."""
        await self.nic.work("window_moves")
        sender, streams, stream = self.sender, self.sender.streams, channel.stream[slot]
        if channel.state[slot] == WAITING:  # rolled back meanwhile
            streams.waiting[stream] -= 1
            streams.in_flight[stream] += 1
        key = sender.key(channel, slot)
        sender.forget(key)
        self._move_base(stream, channel.sequence[slot])
        if sender.busy and sender.leaving[0] == key:
            channel.state[slot] = ANSWERED
            self._late = (channel, slot)
            await self.nic.work("answer_late")
        else:
            await self._free(channel, slot)

    def _move_base(self, stream: int, sequence: int) -> None:
        """A message is answered: the window goes on to the oldest that is not."""
        base, answered = self._base[stream], self._answered[stream] | 1 << sequence
        while answered >> base & 1:
            answered ^= 1 << base
            base = base + 1 & COUNTER_MASK
            self.sender.streams.in_flight[stream] -= 1
            self._age[stream] = 0
        self._base[stream], self._answered[stream] = base, answered
        for channel in self._full:
            channel.blocked = False
            self.unblocked.append(channel)
        self._full.clear()

    def _is_full(self, channel: Channel, stream: int) -> bool:
        """Whether one more message would take a sequence number that is in use. Only where the messages of a stream
        stand in several channels: in one channel the scoreboard is full before.
        """
        full = (self.sender.streams.sequence[stream] - self._base[stream] & COUNTER_MASK) == COUNTER_MASK
        if full and channel not in self._full:
            self._full.append(channel)
        return full

    async def _nack(self, key: int, w1: int) -> None:
        message = self._message(key, w1)
        if message is None or message[0].state[message[1]] != SENT:
            await self._strange()
        else:
            await super()._nack(key, w1)

    async def link_free(self) -> None:
        """The send engine has ended: what it sent is free if it was answered before."""
        if self._late is not None and not (self.sender.busy and self.sender.leaving[0] == self.sender.key(*self._late)):
            (channel, slot), self._late = self._late, None
            await self._free(channel, slot)

    # ---- time

    def _sent(self, stream: int) -> None:
        """A message leaves, or is prepared to."""
        if stream not in self._watched:
            self._age[stream] = 0
            if not self._ticks_now() and not self._held:
                self._start_clock()
            self._watched[stream] = None

    def _ticks_now(self) -> bool:
        """Whether the clock is needed."""
        return bool(self._watched or self.sender.down)

    def _start_clock(self) -> None:
        self.nic.write(Reg.IT0, self._tick)

    def _arm(self, now: int) -> None:
        dues = [self._held[0][0]] if self._held else []
        if self._ticks_now():
            if self._tick_due is None:
                self._tick_due = now + self._tick & 0xFFFFFFFF
            dues.append(self._tick_due)
        if dues:
            self.nic.write(Reg.IT0, max(min(due - now & 0xFFFFFFFF for due in dues), 1))

    async def timer(self) -> None:
        """TIME0: retry delays that are over, and the tick."""
        self.nic.write(Reg.ISR, TIME)
        now = await self.nic.read(Reg.RTC)
        if self._held:
            await self._release(now)
        if self._ticks_now() and (self._tick_due is None or (now - self._tick_due & 0xFFFFFFFF) < HALF):
            self._tick_due = None
            await self._look()
        self._arm(now)

    async def _look(self) -> None:
        """A tick: streams grow older; those whose time is over go back."""
        streams = self.sender.streams
        await self.nic.work("timeout_look", len(self._watched))
        for stream in list(self._watched):
            if stream not in self._watched:  # its NI was given up with another stream
                continue
            if not streams.in_flight[stream]:
                del self._watched[stream]
            elif streams.held[stream]:
                self._age[stream] = 0
            else:
                self._age[stream] += 1
                if self._age[stream] >= LOOKS:
                    await self._expire(stream)

    async def _expire(self, stream: int) -> None:
        """No answer: roll the stream back to its oldest message in flight, or give its NI up."""
        streams, peer = self.sender.streams, self.sender.streams.peer(stream)
        self._age[stream] = 0
        oldest = streams.oldest_sent(stream)
        if oldest is None:  # all that left is waiting again already
            return
        self._tries[peer] += 1
        self.ni.count(Counter.TIMEOUTS)
        channel, slot = oldest
        await self.nic.work("timeout_expired")
        taken = await self._roll_back(channel, slot)
        self.nic.trace(TraceEvent.TIMEOUT, self.sender.key(channel, slot), taken)
        if self.ni.options.timeout_tries and self._tries[peer] >= self.ni.options.timeout_tries:
            await self._give_up(peer)
        else:
            streams.wake(stream)

    # ---- a NI that is down

    async def _give_up(self, peer: int) -> None:
        """A NI gives no sign of life."""
        raise NotImplementedError

    def _of(self, peer: int) -> list[int]:
        """The streams to a NI."""
        return [stream for stream in range(len(self._base)) if self.sender.streams.peer(stream) == peer]

    async def close(self, peer: int) -> None:
        """Take back all that is meant for a NI: it is refused, and so is what comes."""
        streams = self.sender.streams
        self.sender.down.add(peer)
        for stream in self._of(peer):
            if not streams.closed[stream]:
                oldest = streams.oldest_sent(stream)
                if oldest is not None:
                    await self._roll_back(*oldest)
                streams.closed[stream] = True
                self._watched.pop(stream, None)
                streams.wake(stream)

    def open(self, peer: int) -> None:
        """Nothing waits for a NI any more: its streams begin anew."""
        streams = self.sender.streams
        self.sender.down.discard(peer)
        self._tries[peer] = 0
        for stream in self._of(peer):
            streams.closed[stream] = False
            streams.sequence[stream] = streams.in_flight[stream] = streams.cursor[stream] = 0
            self._base[stream] = self._answered[stream] = self._age[stream] = 0

    async def refuse(self, channel: Channel, slot: int, stream: int) -> None:
        """A message for a NI that is down: its sender is told, then it is freed. While no more reports are taken, it
        waits.
        """
        sender, streams, reports = self.sender, self.sender.streams, self.receiver.reports
        if reports.full:
            await self.later(stream)
            return
        streams.passed(channel, slot, stream)
        self._move_base(stream, channel.sequence[slot])
        self.ni.count(Counter.UNREACHABLE)
        await self.nic.work("error_seen")
        await reports.failed(channel, slot, Cause.HOST_DOWN)
        if sender.busy and sender.leaving[0] == sender.key(channel, slot):
            channel.state[slot] = ANSWERED
            self._late = (channel, slot)
        else:
            await self._free(channel, slot)
        streams.wake(stream)
