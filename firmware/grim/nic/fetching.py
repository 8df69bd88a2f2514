"""Payload fetched by NI DMA instead of written by the host's PIO (option `dma_inject`).

The host writes only the header into the queue, and the payload's pinned address into the room for the route. The NI
enters the message into the scoreboard and fetches the payload to its place in the queue. Until then the message and its
successors in the stream wait. A word in host memory counts the fetched payloads, whose buffers the host may reuse.
"""

from __future__ import annotations

from firmware.common.nic import HostDma
from firmware.common.nic.host_dma import E2L
from firmware.grim.nic.channels import WAITING, Channel
from firmware.grim.nic.delivery.delivery import NO_BUFFER, Delivery
from firmware.grim.nic.delivery.endpoints import Endpoints
from firmware.grim.nic.layout import E2L_CHAIN, HostQueue
from firmware.grim.nic.ni import Ni
from firmware.grim.nic.outgoing import Outgoing


class Fetching:
    """Host DMA chain that fetches payloads (E2L)."""

    def __init__(self, ni: Ni, dma: HostDma, outgoing: Outgoing, endpoints: Endpoints, delivery: Delivery) -> None:
        layout = ni.layout
        self._nic = ni.nic
        self._outgoing, self._endpoints, self._delivery = outgoing, endpoints, delivery
        self._chain = Delivery(ni, dma, layout.fetches, 0, layout.fetches_count, E2L_CHAIN)
        self._fetched = [0] * len(outgoing.channels)

    async def fetch(self, channel: Channel, slot: int, place: int, host: int, size: int) -> None:
        """Start the fetch of a message's payload.

        Args:
            channel: Channel of the message.
            slot: Its scoreboard slot, in state FETCHING.
            place: SRAM address of the payload.
            host: Physical address of the payload in host memory.
            size: Bytes of payload.
        """
        await self._nic.work("send_fetch")
        entry = channel.index, slot, size
        self._chain.data(place, host, size, True, entry, E2L, message=channel.message[slot])
        await self._chain.start()

    async def done(self) -> None:
        """Handle WAKE: release the messages whose payload has been fetched."""
        await self._nic.work("fetch_done")
        messages = 0
        while (entry := self._chain.finished()) is not None:
            index, slot, _ = entry
            channel = self._outgoing.channels[index]
            channel.state[slot] = WAITING
            self._outgoing.streams.wake(channel.stream[slot])
            self._fetched[index] = self._fetched[index] + 1 & 0xFFFFFFFF
            host = self._endpoints.base[index]
            self._delivery.word(self._fetched[index], host + HostQueue.FETCHED, (NO_BUFFER, 0, 0))
            messages += 1
        if messages > 1:
            await self._nic.work("fetch_done", messages - 1)
        if messages:
            await self._delivery.start()
