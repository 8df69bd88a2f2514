"""Cut-through at the receiver: the host DMA of a long message begins while the rest of it still arrives.

A long message is one that covers its buffer's sentinel (`sentinels`). The part that has arrived goes to the host; when
that DMA has finished, the part that has arrived since follows. The endpoint's back pointer does not move before the
whole message is received without errors, so the host never sees these pieces. A damaged message, or one whose place
another message has taken meanwhile, has only used free room.
"""

from __future__ import annotations

from functools import partial

from firmware.common.nic import WatchedService
from firmware.grim.formats import HEADER_BYTES, MessageType, Words, padded
from firmware.grim.nic.delivery.buffers import Buffers
from firmware.grim.nic.delivery.delivery import NO_BUFFER, Delivery
from firmware.grim.nic.delivery.endpoints import Endpoints
from firmware.grim.nic.delivery.sentinels import Sentinels
from firmware.grim.nic.layout import NONE, Counter
from firmware.grim.nic.ni import Ni
from firmware.grim.nic.verdicts import Verdicts
from pymodels.registers import Reg
from pymodels.trace import TraceEvent


class CutThrough:
    """Cut-through state of the packet in the armed buffer. Disabled if the layout has no cut-through size."""

    def __init__(
        self,
        ni: Ni,
        sentinels: Sentinels,
        buffers: Buffers,
        verdicts: Verdicts,
        endpoints: Endpoints,
        delivery: Delivery,
    ) -> None:
        self._ni, self._nic, self._sentinels = ni, ni.nic, sentinels
        self._buffers, self._verdicts = buffers, verdicts
        self._endpoints, self._delivery = endpoints, delivery
        self._offset = 0
        self._length = 0
        self._place = 0
        """Physical address of the lent place in the endpoint's queue."""

    def services(self) -> list[WatchedService]:
        """Return the main-loop steps that poll the sentinels, one for each buffer."""
        return [(word, partial(self._look, buffer)) for buffer, word in enumerate(self._sentinels.watched)]

    def take(self) -> int:
        """End cut-through for a completed packet; return the number of its bytes that need no further DMA."""
        offset, self._offset = self._offset, 0
        return offset if self._endpoints.take_back() else 0

    async def _look(self, buffer: int) -> None:
        """Start the DMA of a message's first part if the sentinel has changed and the message will be accepted."""
        if not self._sentinels.seen(buffer) or self._buffers.armed != buffer or self._offset:
            await self._nic.work("early_nothing")
            return
        head = Words(*self._nic.load_words(self._buffers.at[buffer], 4))
        await self._nic.work("early_look")
        length, stream = HEADER_BYTES + padded(head.words), self._verdicts.stream(head)
        foreign = not head.is_grim or head.type > MessageType.SEGMENT
        if length > self._ni.layout.host_slot or stream in (NONE, self._verdicts.stalled) or foreign:
            return
        channel = head.channel
        if channel == self._ni.card_channel:
            return
        if head.sequence == self._verdicts.expected[stream] and self._endpoints.room(channel, length):
            self._length, self._place = length, self._endpoints.lend(channel)
            self._ni.count(Counter.EARLY)
            await self._piece(head.w0)

    async def more(self) -> None:
        """Start the DMA of the data that arrived while the previous piece went to the host."""
        if self._offset and self._endpoints.is_lent:
            await self._piece(self._nic.load(self._buffers.at[self._buffers.armed]))

    async def _piece(self, key: int) -> None:
        done = self._offset
        at = self._buffers.at[self._buffers.armed]
        arrived = min(await self._nic.read(Reg.RMP) - at, self._length)
        size = arrived - done
        if size <= 0 or size < min(self._ni.options.cut_through_least, self._length - done):
            return
        await self._nic.work("early_piece")
        message = self._nic.message_at(at)
        self._delivery.data(at + done, self._place + done, size, True, (NO_BUFFER, key, size), message=message)
        await self._delivery.start()
        self._offset = arrived
        self._nic.trace(TraceEvent.NIC_DMA_START, key, size, message=message)
