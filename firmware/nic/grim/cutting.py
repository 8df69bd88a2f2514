"""Cut-through at the receiver: the host DMA of a long message begins while the rest of it still arrives.

A word of each receive buffer holds a sentinel; a message so long that it covers the word changes it, and the polling
loops look at it as they look at a channel. What has arrived then goes to the host, and whenever such a piece is there,
what has arrived since. The endpoint's back pointer does not move before all of the message is good, so a host never
sees these pieces; a message that turns out bad, or whose place another one has taken meanwhile, has only used free
room.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from firmware.nic.grim.delivery import NO_BUFFER, Delivery
from firmware.nic.grim.layout import NONE, RECEIVE_BUFFERS, Counter
from firmware.nic.grim.ni import Ni
from firmware.verbs import PollLoop, Watch
from pymodels.formats.grim import COUNTER_MASK, GRIM_ID, HEADER_BYTES, MessageType, padded
from pymodels.registers import Reg
from pymodels.trace import TraceEvent

if TYPE_CHECKING:
    from firmware.nic.grim.receiving import Receiver

SENTINEL = 0x5EAF00D5


class CutThrough:
    """The packet in the armed buffer as far as it is on its way to the host. Off when the layout has no cut."""

    def __init__(self, ni: Ni, receiver: Receiver, delivery: Delivery) -> None:
        self._ni, self._nic = ni, ni.nic
        self._receiver, self._endpoints, self._delivery = receiver, receiver.endpoints, delivery
        self._buffers = ni.layout.buffers[:RECEIVE_BUFFERS] if ni.layout.cut_through else ()
        self._words = [buffer + ni.layout.cut_through - 4 for buffer in self._buffers]
        self._expected = [SENTINEL] * len(self._words)
        self._loops: tuple[PollLoop, ...] = ()
        self._first_step = 0
        self._offset = 0
        self._length = 0
        self._place = 0
        """Where it goes, as long as that is lent to it."""

    def watches(self) -> list[Watch]:
        """The polling steps, one a buffer."""
        return [Watch(word, SENTINEL, "poll_arrival") for word in self._words]

    def connect(self, loops: tuple[PollLoop, ...], first_step: int) -> None:
        """The polling loops that have these steps, from `first_step` on."""
        self._loops, self._first_step = loops, first_step

    def arm(self, buffer: int) -> None:
        """A buffer is about to be armed."""
        if buffer < len(self._words):
            self._nic.store(self._words[buffer], SENTINEL)
            self._expect(buffer, SENTINEL)

    def take(self) -> int:
        """The packet is complete: bytes of it that need no further DMA."""
        offset, self._offset = self._offset, 0
        return offset if self._endpoints.take_back() else 0

    def _expect(self, buffer: int, value: int) -> None:
        if self._expected[buffer] != value:
            self._expected[buffer] = value
            for loop in self._loops:
                loop.expect(self._first_step + buffer, value)

    async def look(self, buffer: int) -> None:
        """Data stand where the sentinel stood: if the message will be accepted, its first part goes to the host."""
        word = self._nic.load(self._words[buffer])
        self._expect(buffer, word)
        if self._receiver.armed != buffer or self._offset or word == SENTINEL:
            await self._nic.work("early_nothing")
            return
        w0, w1, w2, w3 = self._nic.load_words(self._buffers[buffer], 4)
        await self._nic.work("early_look")
        length, stream = HEADER_BYTES + padded(w2 >> 16), self._receiver.stream(w1, w3)
        foreign = w0 >> 16 != GRIM_ID or w1 >> 26 > MessageType.SEGMENT
        if length > self._ni.layout.host_slot or stream in (NONE, self._receiver.stalled) or foreign:
            return
        channel = w3 >> 16 & 0xFF
        if channel == self._ni.card_channel:
            return
        if w0 & COUNTER_MASK == self._receiver.expected[stream] and self._endpoints.room(channel, length):
            self._length, self._place = length, self._endpoints.lend(channel)
            self._ni.count(Counter.EARLY)
            await self._piece(w0)

    async def more(self) -> None:
        """A piece has reached the host: what has arrived since follows."""
        if self._offset and self._endpoints.is_lent:
            await self._piece(self._nic.load(self._buffers[self._receiver.armed]))

    async def _piece(self, key: int) -> None:
        receiver, done = self._receiver, self._offset
        at = self._buffers[receiver.armed]
        arrived = min(await self._nic.read(Reg.RMP) - at, self._length)
        size = arrived - done
        if size <= 0 or size < min(self._ni.options.cut_through_least, self._length - done):
            return
        await self._nic.work("early_piece")
        self._delivery.data(at + done, self._place + done, size, True, (NO_BUFFER, key, size))
        await self._delivery.start()
        self._offset = arrived
        self._nic.trace(TraceEvent.NIC_DMA_START, key, size)
