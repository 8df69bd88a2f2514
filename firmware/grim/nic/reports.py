"""Reports to this NI's host about messages that failed permanently (readings B5).

A report is one header in the endpoint's queue. It is delivered like a message, behind the messages that the NI has
accepted before (`buffering`). For a segmented message or transfer only the last segment is reported, which fails when
any of them does. Reports wait while the queue has no room, which is checked again after the retry delay, or while all
places are in use.

No report is dropped. While `TOKENS` or more wait, the NI takes no new messages of its own host, so only messages in the
scoreboards can still fail. At most one report of a restarted NI waits for each channel, because a connection begins
only when no report waits.

The failure of a copy for a child of a multicast tree is reported to the host that sent the message. This may be another
host (`reports_afar`).
"""

from __future__ import annotations

from collections import deque

from firmware.grim.formats import GRIM_ID, HEADER_BYTES, MORE, SEGMENTS, TOKENS, Device, MessageType, Words, endpoint
from firmware.grim.nic.channels import Channel
from firmware.grim.nic.clock import Clock
from firmware.grim.nic.delivery.buffering import Buffering
from firmware.grim.nic.delivery.delivery import NO_BUFFER, REPORT, Delivery
from firmware.grim.nic.delivery.endpoints import Endpoints
from firmware.grim.nic.layout import REPORTS, ROUTE_BYTES
from firmware.grim.nic.ni import Ni
from firmware.grim.nic.outgoing import Outgoing
from firmware.grim.nic.reports_afar import ReportsAfar
from firmware.grim.nic.search import ChannelSearch


class Reports:
    """Reports of one NI to its own host."""

    def __init__(
        self,
        ni: Ni,
        outgoing: Outgoing,
        endpoints: Endpoints,
        buffering: Buffering | None,
        delivery: Delivery,
        clock: Clock,
        search: ChannelSearch,
    ) -> None:
        self._ni, self._nic = ni, ni.nic
        self._search = search
        self._outgoing, self._endpoints, self._delivery, self._clock = outgoing, endpoints, delivery, clock
        self._buffering = buffering
        self._waiting: deque[tuple[int, ...]] = deque()
        """Waiting reports: channel, end of its incoming queue, and arguments."""
        self.afar = ReportsAfar(ni, outgoing)
        """Reports to other hosts."""
        self._place = 0
        self._under_way = 0
        self._held = False
        """True during the retry delay after a queue had no room."""
        self.stopped = False
        """True while the NI takes no new messages of its own host."""

    def full_for(self, channel: Channel) -> bool:
        """Return True if a failure of the channel's next message could not be reported now."""
        own = self._outgoing.own.index
        return len(self._waiting) >= TOKENS if channel.index < own else channel.index > own and self.afar.full

    @property
    def pending(self) -> bool:
        """True while a report to this NI's host is undelivered."""
        return bool(self._waiting or self._under_way)

    async def failed(self, channel: Channel, slot: int, cause: int) -> None:
        """Report the permanent failure of a message in the scoreboard to the host that sent it.

        The failure of a reply or of a report is not reported; the reader gets no answer.
        """
        own = self._outgoing.own.index
        at = channel.base + channel.offset[slot] + ROUTE_BYTES
        head, (a0, _, _, a3) = Words(*self._nic.load_words(at, 4)), self._nic.load_words(at + 16, 4)
        w1, w3 = head.w1, head.w3
        placed = head.type == MessageType.CARD_SEGMENT or MessageType.RM_V <= head.type <= MessageType.RM_REPLY
        if head.type in SEGMENTS or (placed and w1 & MORE):
            return
        w1, w3 = w1 & 0xFFFF0000, w3 & 0xFFFF0000 | cause
        if channel.index < own:
            await self.queue_report(channel.index, w1 | head.destination, w3, a0, a3)
        elif own < channel.index < self._outgoing.reports.index:
            origin, source = head.first_sender, head.first_channel
            w1 |= endpoint(self._outgoing.order.peer(channel.stream[slot]), Device.HOST)
            if origin == self._ni.me:
                await self.queue_report(source, w1, w3, a0, a3)
            else:
                await self.afar.queue_report(origin, source, w1, w3, a0, a3)

    async def queue_report(self, channel: int, *arguments: int) -> None:
        """Queue a report to a channel of this NI's host: w1, w3 and the arguments of its header.

        Channel 0 gets the reports about messages of the FPGA card, which has no handler for them.
        """
        if channel == self._ni.card_channel:
            channel = 0
        end = await self._buffering.end(channel) if self._buffering is not None else 0
        self._waiting.append((channel, end, *arguments))
        await self._bring()

    async def brought(self, count: int) -> None:
        """Handle the delivery of `count` reports to the host's queue."""
        self._under_way -= count
        if self._waiting:
            await self._bring()

    async def again(self) -> None:
        """Retry waiting reports after the retry delay."""
        self._held = False
        await self._bring()

    async def _may_go(self) -> bool:
        """Return True if a report waits, and its endpoint has room behind the messages before it."""
        if not self._waiting or self._under_way == REPORTS:
            return False
        channel, end, *_ = self._waiting[0]
        if self._buffering is not None and not await self._buffering.passed(channel, end):
            return False
        return self._endpoints.room(channel, HEADER_BYTES)

    async def _bring(self) -> None:
        while await self._may_go():
            channel, _, *arguments = self._waiting.popleft()
            await self._nic.work("error_report")
            at = self._ni.layout.report + HEADER_BYTES * self._place
            self._place = (self._place + 1) % REPORTS
            self._under_way += 1
            w1, me = MessageType.ERROR_REPORT << 26 | self._ni.endpoint, self._ni.endpoint
            w3_here = channel << 24 | channel << 16
            self._nic.store_words(at, (GRIM_ID << 16, w1, me, w3_here, *arguments))
            delivery = self._delivery
            place = await self._endpoints.append(channel, HEADER_BYTES)
            delivery.data(at, place.data, HEADER_BYTES, False, (NO_BUFFER, 0, 0), message=0)
            delivery.word(place.after, place.pointer, (REPORT, 0, 0))
            await delivery.start()
        if self._waiting and not self._under_way and not self._held:
            self._held = True
            await self._clock.reports_later()
        if self.stopped != (len(self._waiting) >= TOKENS):
            await self._stop_or_go_on()

    async def _stop_or_go_on(self) -> None:
        """Block or unblock the channels of this NI's host."""
        self.stopped = not self.stopped
        channels = self._outgoing.channels
        await self._nic.work("channel_blocked", len(channels))
        for channel in channels:
            channel.blocked = self.stopped
            if not self.stopped:
                self._search.look_again(channel)
