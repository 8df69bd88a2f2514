"""Notification by the doorbell FIFO instead of the channel search (option `doorbell_notify`).

The host rings with the channel's new back pointer. The hardware appends {address, data} to a FIFO in SRAM and raises
WAKE0. The NI consumes the entries, and channels with new messages take turns. The number of such channels is in a word
that the main loop polls in place of the channels. The FIFO has room for every message that the queues can hold, so it
never overflows.
"""

from __future__ import annotations

from collections import deque
from functools import partial

from firmware.common.nic import WatchedService
from firmware.grim.nic.channels import Channel
from firmware.grim.nic.layout import Word
from firmware.grim.nic.ni import Ni
from firmware.grim.nic.search import NewMessage
from firmware.verbs import Watch
from pymodels.registers import Isr, Pci, Reg, Size

WAKE0 = 1 << Isr.WAKE0
INDEX = 0x1FFFF
"""Mask of the 17-bit producer and consumer indices."""


class Notices:
    """Consumer of the doorbell FIFO and list of the channels with new messages."""

    def __init__(self, ni: Ni, channels: list[Channel]) -> None:
        self._nic = ni.nic
        self._base = ni.layout.doorbells
        self._entries = ni.layout.doorbell_bytes // Size.DOORBELL_ENTRY
        self._channels = channels
        self._consumer = 0
        self._queued = [False] * len(channels)
        self._ready: deque[Channel] = deque()

    def services(self, new_message: NewMessage) -> list[WatchedService]:
        """Return the main-loop steps that replace the search."""
        return [
            (Watch(Word.NEWS, 0, "poll_news"), partial(self._news, new_message)),
            (Watch(Reg.ISR, 0, "poll_flag", WAKE0, register=True), self._rung),
        ]

    async def _rung(self) -> None:
        """Handle WAKE0: consume all entries. The flag is cleared first, so that an entry that arrives meanwhile sets it
        again.
        """
        nic = self._nic
        nic.write(Reg.ISR, WAKE0)
        producer = await nic.read(Reg.DOORBELL_PRODUCER0)
        count = producer - self._consumer & INDEX
        await nic.work("doorbell_entry", max(count, 1))
        for i in range(count):
            at = self._base + Size.DOORBELL_ENTRY * ((self._consumer + i) % self._entries)
            address, back = nic.load_words(at, 2)
            channel = self._channels[address - Pci.DOORBELL >> 2]
            nic.store(channel.back_register, back)
            self.look_again(channel)
        self._consumer = producer
        nic.write(Reg.DOORBELL_CONSUMER0, producer)

    async def _news(self, new_message: NewMessage) -> None:
        """Process the next message of the channel whose turn it is."""
        channel = self._take()
        if channel is None:
            await self._nic.work("news_nothing")
        elif await new_message(channel):
            self.look_again(channel)

    def look_again(self, channel: Channel) -> None:
        """Queue a channel that may have unprocessed messages."""
        if not self._queued[channel.index]:
            self._queued[channel.index] = True
            self._ready.append(channel)
            self._nic.store(Word.NEWS, len(self._ready))

    def _take(self) -> Channel | None:
        """Return the channel whose turn it is, or None if it has no message."""
        channel = self._ready.popleft()
        self._queued[channel.index] = False
        self._nic.store(Word.NEWS, len(self._ready))
        has_news = not channel.blocked and self._nic.load(channel.back_register) != channel.next
        return channel if has_news else None
