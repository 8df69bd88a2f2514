"""What the NI tells its own host of messages that can never succeed (readings B5): one header in the endpoint's queue,
behind the messages there, brought like them. Reports wait while the queue has no room, or all places for them are
under way; what more than a scoreboard could give is only counted.
"""

from __future__ import annotations

from collections import deque

from firmware.nic.grim.delivery import NO_BUFFER, REPORT, Delivery
from firmware.nic.grim.endpoints import Endpoints
from firmware.nic.grim.layout import REPORTS
from firmware.nic.grim.ni import Ni
from pymodels.formats.grim import GRIM_ID, HEADER_BYTES, TOKENS, MessageType


class Reports:
    """The reports of one NI."""

    def __init__(self, ni: Ni, endpoints: Endpoints, delivery: Delivery) -> None:
        self._ni, self._nic = ni, ni.nic
        self._endpoints, self._delivery = endpoints, delivery
        self._waiting: deque[tuple[int, int, int, int, int]] = deque()
        self._place = 0
        self._under_way = 0

    async def tell(self, channel: int, w2: int, w3: int, cause: int, a0: int) -> None:
        """A message of a channel cannot succeed: words 2, 3 and 4 of its header, and why (`Cause`)."""
        if len(self._waiting) < TOKENS:
            self._waiting.append((channel, w2, w3, cause, a0))
        await self._bring()

    async def brought(self, count: int) -> None:
        """So many reports are in the host's queue."""
        self._under_way -= count
        if self._waiting:
            await self._bring()

    async def _bring(self) -> None:
        while self._waiting and self._under_way < REPORTS and self._endpoints.room(self._waiting[0][0], HEADER_BYTES):
            channel, w2, w3, cause, a0 = self._waiting.popleft()
            await self._nic.work("error_report")
            at = self._ni.layout.report + HEADER_BYTES * self._place
            self._place = (self._place + 1) % REPORTS
            self._under_way += 1
            w1, me = MessageType.ERROR_REPORT << 26 | self._ni.me << 8, self._ni.me << 8
            w3_here = channel << 24 | channel << 16
            self._nic.store_words(at, (GRIM_ID << 16, w1, me, w3_here, w2, w3, cause, a0))
            delivery = self._delivery
            place = await self._endpoints.append(channel, HEADER_BYTES)
            delivery.data(at, place.data, HEADER_BYTES, False, (NO_BUFFER, 0, 0))
            delivery.word(place.after, place.pointer, (REPORT, 0, 0))
            await delivery.start()
