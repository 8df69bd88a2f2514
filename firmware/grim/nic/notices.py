"""Notification by the doorbell FIFO instead of the search (option `doorbell_notify`).

The host rings with the channel's new back pointer; the hardware appends {address, data} to a FIFO in SRAM and raises
WAKE0. The NI takes the entries out, and channels with news take turns: their number stands in a word that the main loop
looks at in place of all the channels. The FIFO has room for every message that the queues can hold, so none is lost.
"""

from __future__ import annotations

from collections import deque
from functools import partial

from firmware.common.nic import Looked
from firmware.grim.nic.channels import Channel
from firmware.grim.nic.layout import Word
from firmware.grim.nic.ni import Ni
from firmware.grim.nic.search import NewMessage
from firmware.verbs import Watch
from pymodels.registers import Isr, Pci, Reg, Size

WAKE0 = 1 << Isr.WAKE0
INDEX = 0x1FFFF
"""Producer and consumer are 17-bit numbers that run on."""


class Notices:
    """The FIFO's consumer, and the channels that have news."""

    def __init__(self, ni: Ni, channels: list[Channel]) -> None:
        self._nic = ni.nic
        self._base = ni.layout.doorbells
        self._entries = ni.layout.doorbell_bytes // Size.DOORBELL_ENTRY
        self._channels = channels
        self._consumer = 0
        self._queued = [False] * len(channels)
        self._ready: deque[Channel] = deque()

    def services(self, new_message: NewMessage) -> list[Looked]:
        """The steps of the main loop in place of the search."""
        return [
            (Watch(Word.NEWS, 0, "poll_news"), partial(self._news, new_message)),
            (Watch(Reg.ISR, 0, "poll_flag", WAKE0, register=True), self._rung),
        ]

    async def _rung(self) -> None:
        """WAKE0: take all entries out. The flag is cleared first: an entry that arrives meanwhile sets it again."""
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
        """The next message of the channel whose turn it is."""
        channel = self._take()
        if channel is None:
            await self._nic.work("news_nothing")
        elif await new_message(channel):
            self.look_again(channel)

    def look_again(self, channel: Channel) -> None:
        """A channel has messages that the NI has not looked at, or may have."""
        if not self._queued[channel.index]:
            self._queued[channel.index] = True
            self._ready.append(channel)
            self._nic.store(Word.NEWS, len(self._ready))

    def _take(self) -> Channel | None:
        """The channel whose turn it is; None when it has no message."""
        channel = self._ready.popleft()
        self._queued[channel.index] = False
        self._nic.store(Word.NEWS, len(self._ready))
        has_news = not channel.blocked and self._nic.load(channel.back_register) != channel.next
        return channel if has_news else None
