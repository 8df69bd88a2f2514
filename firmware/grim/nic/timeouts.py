"""The time-out extension for networks that lose packets (paper 000, 4.2.1; option `timeout_us`).

Data and answers may vanish, or arrive damaged and be dropped by CRC-8. A stream whose oldest unanswered message gets no
answer for the time-out is rolled back to that message and sent again; the receiver acknowledges duplicates again, which
makes up for a lost answer, and refuses one that still waits for a translation. Delivery stays exactly once and in order
because

- the window counts from the oldest unanswered message on, so that what arrives is less than half the sequence
  numbers before or behind what is expected;
- whatever arrives late, message or answer, is told from a later one by token and sequence: those come again when 256
  further messages of the stream have been sent, so a network may reorder as long as no packet is passed by 128 messages
  of its own stream; between streams an answer tells them apart by the channel it names;
- an answer counts also when its message was rolled back meanwhile; the place in the queue is free when no copy of it
  is on its way to the link.

The clock is one periodic tick, a quarter of the time-out, while anything is unanswered. It shares the one timer with
the retry delay. A NI from which nothing has come for `timeout_tries` time-outs is down: messages for it are freed and
reported as an ERROR to their sender, until it is connected again (`connections`).
"""

from __future__ import annotations

from firmware.grim.nic.clock import LOOKS, TickingClock
from firmware.grim.nic.connections import Connections
from firmware.grim.nic.layout import Counter
from firmware.grim.nic.losses import LossyAnswers
from firmware.grim.nic.ni import Ni
from firmware.grim.nic.outgoing import Outgoing
from firmware.grim.nic.reports import Reports
from pymodels.trace import TraceEvent


class Timeouts:
    """The timer with time-outs: retry delays, and streams that wait for answers."""

    def __init__(
        self,
        ni: Ni,
        outgoing: Outgoing,
        answers: LossyAnswers,
        reports: Reports,
        clock: TickingClock,
        connections: Connections,
    ) -> None:
        self._ni, self._nic = ni, ni.nic
        self._streams, self._order = outgoing.streams, outgoing.order
        self._answers, self._reports, self._clock, self._connections = answers, reports, clock, connections
        self._ticks = 0

    async def timer(self) -> None:
        """TIME0: retry delays that are over, and the tick."""
        clock = self._clock
        now = await clock.expired()
        if clock.held and await clock.release(now):
            await self._reports.again()
        if clock.tick(now):
            await self._look()
        clock.arm(now)

    async def _look(self) -> None:
        """A tick: streams age, and those that time out are rolled back. NIs that are down get notices."""
        clock = self._clock
        await self._nic.work("timeout_look", len(clock.watched))
        for stream in list(clock.watched):
            if stream not in clock.watched:  # its NI was given up with another stream
                continue
            if not self._streams.in_flight[stream]:
                clock.forget(stream)
            elif self._streams.held[stream]:
                clock.age[stream] = 0
            else:
                clock.age[stream] += 1
                if clock.age[stream] >= LOOKS:
                    await self._expire(stream)
        self._ticks = (self._ticks + 1) % LOOKS
        if not self._ticks:
            await self._connections.ask_again()

    async def _expire(self, stream: int) -> None:
        """No answer: roll the stream back to its oldest message in flight, or give its NI up."""
        peer, tries, most = self._order.peer(stream), self._ni.tries, self._ni.options.timeout_tries
        self._clock.age[stream] = 0
        oldest = self._order.oldest_sent(stream)
        if oldest is None:  # all that left is waiting again already
            return
        tries[peer] += 1
        self._ni.count(Counter.TIMEOUTS)
        channel, slot = oldest
        await self._nic.work("timeout_expired")
        taken = await self._answers.roll_back(channel, slot)
        self._nic.trace(TraceEvent.TIMEOUT, channel.key(slot), taken)
        if most and tries[peer] >= most:
            await self._connections.give_up(peer)
        else:
            self._streams.wake(stream)
