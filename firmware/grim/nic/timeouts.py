"""Time-out extension for networks that lose packets (paper 000, 4.2.1; option `timeout_us`).

Data and answers may be lost, or arrive damaged and be dropped by CRC-8. A stream whose oldest unanswered message gets
no answer within the time-out is rolled back to that message and retransmitted. The receiver acknowledges duplicates
again, which replaces a lost answer, and rejects a duplicate of a message that still waits for a translation. Delivery
remains exactly once and in order for these reasons:

- The window counts from the oldest unanswered message, so a received sequence number is less than half the range before
  or after the expected one.
- Late messages and answers differ from later ones by token and sequence number, which repeat only after 256 further
  messages of the stream. So a network may reorder, as long as no packet is passed by 128 messages of its own stream.
  An answer names its channel, which distinguishes streams.
- An answer also counts if its message was rolled back meanwhile. The message's room in the queue is freed when no copy
  of it is in the send engine.

The clock is one periodic tick, a quarter of the time-out, while any message is unanswered. It shares the timer with the
retry delay. A NI that sends nothing for `timeout_tries` time-outs is down: messages for it are freed and reported to
their sender as an ERROR until it is connected again (`connections`).
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
    """Timer step with time-outs: retry delays, and streams with unanswered messages."""

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
        """Handle TIME0: end expired retry delays and process the tick."""
        clock = self._clock
        now = await clock.expired()
        if clock.held and await clock.release(now):
            await self._reports.again()
        if clock.tick(now):
            await self._look()
        clock.arm(now)

    async def _look(self) -> None:
        """Process a tick: age the watched streams, roll back those that time out, and probe NIs that are down."""
        clock = self._clock
        await self._nic.work("timeout_look", len(clock.watched))
        for stream in list(clock.watched):
            if stream not in clock.watched:  # removed when its NI was declared down for another stream
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
        """Roll a timed-out stream back to its oldest message in flight, or declare its NI down."""
        peer, tries, most = self._order.peer(stream), self._ni.tries, self._ni.options.timeout_tries
        self._clock.age[stream] = 0
        oldest = self._order.oldest_sent(stream)
        if oldest is None:  # every sent message already waits for its retransmission
            return
        tries[peer] += 1
        self._ni.count(Counter.TIMEOUTS)
        channel, slot = oldest
        await self._nic.work("timeout_expired")
        taken = await self._answers.roll_back(channel, slot)
        self._nic.trace(TraceEvent.TIMEOUT, channel.key(slot), taken, message=channel.message[slot])
        if most and tries[peer] >= most:
            await self._connections.give_up(peer)
        else:
            self._streams.wake(stream)
