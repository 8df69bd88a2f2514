"""Storage of an in-order message in its endpoint's queue.

The host DMA of a long message begins while it still arrives (`cutting`). The queue's back pointer moves only when the
whole message is there and its CRC is correct.
"""

from __future__ import annotations

from collections.abc import Awaitable

from firmware.grim.formats import TAG
from firmware.grim.nic.delivery.buffers import Buffers
from firmware.grim.nic.delivery.delivery import NO_BUFFER, Delivery
from firmware.grim.nic.delivery.endpoints import Endpoints
from firmware.grim.nic.ni import Ni
from firmware.grim.nic.path_tables import RECEIVE_PATHS
from firmware.grim.nic.verdicts import Verdicts
from pymodels.trace import TraceEvent


class Intake:
    """Acceptance of messages for endpoints with room; other messages are rejected."""

    def __init__(self, ni: Ni, buffers: Buffers, verdicts: Verdicts, endpoints: Endpoints, delivery: Delivery) -> None:
        self._ni, self._nic = ni, ni.nic
        self._buffers, self._verdicts = buffers, verdicts
        self._endpoints, self._delivery = endpoints, delivery
        self._path = int(ni.options.sequencing == "per-ni")

    def take(
        self, buffer: int, key: int, source: int, stream: int, channel: int, length: int, early: int
    ) -> Awaitable[None]:
        """Accept or reject a message for an endpoint; `early` bytes of it need no further DMA."""
        if self._endpoints.room(channel, length):
            return self.accept(buffer, key, source, stream, channel, length, early)
        return self._verdicts.refuse(buffer, key, source, stream)

    async def accept(
        self, buffer: int, key: int, source: int, stream: int, channel: int, length: int, early: int
    ) -> None:
        """Deliver a message to an endpoint queue that has room, and acknowledge it."""
        nic, at, message = self._nic, self._buffers.at[buffer], self._buffers.message[buffer]
        self._verdicts.take(key, source, stream, message)
        await nic.work(RECEIVE_PATHS[self._path])
        if (
            channel == self._ni.card_channel and self._ni.lossy
        ):  # a card copies the source field into its answers, so it must not have a tag
            nic.store(at + 4, nic.load(at + 4) & ~TAG)
            await nic.work("connection_tag")
        place, pointer, after = await self._endpoints.append(channel, length, message)
        if early < length:
            entry = NO_BUFFER, key, length
            self._delivery.data(at + early, place + early, length - early, False, entry, message=message)
        self._delivery.word(after, pointer, (buffer, key, length), message)
        await self._delivery.start()
        nic.trace(TraceEvent.NIC_DMA_START, key, length - early, 4, message=message)
        await self._verdicts.acknowledge(key, source, stream, message)
