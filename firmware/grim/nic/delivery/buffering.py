"""Message buffering at the receiving NI (paper 000, 4.3.3; option `buffering`), as in early GRIM.

Half of the memory for messages holds incoming queues, one for each channel. A message whose endpoint has no room is
accepted and stays in its receive buffer until the endpoint has read on. A queue is a list of receive buffers, so
nothing is copied; each channel may hold its share of the buffers. A message that finds an empty queue and an endpoint
with room bypasses the queue (cut-through path). The costs: the NI checks the queue for each message and polls the
endpoint's front pointer in its loop, and the outgoing queues have half the room.
"""

from __future__ import annotations

from collections import deque
from functools import partial

from firmware.common.nic import Watched, WatchedService
from firmware.grim.nic.delivery.buffers import Buffers
from firmware.grim.nic.delivery.delivery import NO_BUFFER, Delivery
from firmware.grim.nic.delivery.endpoints import Endpoints
from firmware.grim.nic.delivery.intake import Intake
from firmware.grim.nic.layout import DRAINS, Counter, Register
from firmware.grim.nic.ni import Ni
from firmware.grim.nic.verdicts import Verdicts
from pymodels.trace import TraceEvent


class Buffering:
    """Incoming queues of one NI."""

    def __init__(
        self, ni: Ni, buffers: Buffers, verdicts: Verdicts, endpoints: Endpoints, delivery: Delivery, intake: Intake
    ) -> None:
        self._ni, self._nic = ni, ni.nic
        self._buffers, self._verdicts, self._intake = buffers, verdicts, intake
        self._endpoints, self._delivery = endpoints, delivery
        channels = ni.options.channels
        self.queues: list[deque[tuple[int, int, int]]] = [deque() for _ in range(channels)]
        """Waiting messages of each channel, oldest first: receive buffer, packet key and bytes."""
        self._gone = [0] * channels
        """Number of messages that have left the queue of each channel."""
        self._share = ni.layout.pool // channels
        self._under_way: list[int] = []
        """Receive buffers whose DMA to the host is in progress."""
        fronts = [ni.layout.register(channel, Register.HOST_FRONT) for channel in range(channels)]
        self._fronts = [Watched(front, 0, "poll_front") for front in fronts]

    def services(self) -> list[WatchedService]:
        """Return the main-loop steps that poll the endpoints' front pointers."""
        return [(front, partial(self._moved, channel)) for channel, front in enumerate(self._fronts)]

    async def _moved(self, channel: int) -> None:
        """Deliver waiting messages to an endpoint that has made room."""
        front = self._fronts[channel]
        front.expect(self._nic.load(front.watch.address))
        await self._nic.work("front_moved")
        await self._drain(channel)

    # ---- messages

    async def take(
        self, buffer: int, key: int, source: int, stream: int, channel: int, length: int, early: int
    ) -> None:
        """Deliver, queue or reject a message for an endpoint that is next in its stream."""
        verdicts, queue = self._verdicts, self.queues[channel]
        await self._nic.work("queue_look")
        if not queue and self._endpoints.room(channel, length):
            await self._intake.accept(buffer, key, source, stream, channel, length, early)
        elif len(queue) < self._share:
            message = self._buffers.message[buffer]
            verdicts.take(key, source, stream, message)
            await self._nic.work("queue_message")
            queue.append((buffer, key, length))
            self._ni.count(Counter.QUEUED)
            await verdicts.acknowledge(key, source, stream, message)
        else:
            await verdicts.refuse(buffer, key, source, stream)

    def waits(self, channel: int) -> bool:
        """Return True if messages of a channel wait in its queue."""
        return bool(self.queues[channel])

    async def end(self, channel: int) -> int:
        """Return the position at the end of a channel's queue, for `passed`."""
        await self._nic.work("queue_end")
        return self._gone[channel] + len(self.queues[channel])

    async def passed(self, channel: int, end: int) -> bool:
        """Return True if every message before a position of a channel's queue has left."""
        await self._nic.work("queue_passed")
        return self._gone[channel] >= end

    async def _drain(self, channel: int) -> None:
        """Deliver waiting messages to an endpoint as far as it has room."""
        endpoints, delivery, queue = self._endpoints, self._delivery, self.queues[channel]
        while queue and len(self._under_way) < DRAINS and endpoints.room(channel, queue[0][2]):
            buffer, key, length = queue.popleft()
            self._gone[channel] += 1
            await self._nic.work("queue_drain")
            self._under_way.append(buffer)
            message = self._buffers.message[buffer]
            place = await endpoints.append(channel, length, message)
            at = self._buffers.at[buffer]
            delivery.data(at, place.data, length, False, (NO_BUFFER, key, length), message=message)
            delivery.word(place.after, place.pointer, (buffer, key, length), message)
            await delivery.start()
            self._nic.trace(TraceEvent.NIC_DMA_START, key, length, 4, message=message)

    async def drained(self) -> None:
        """Continue deliveries after a host DMA has finished."""
        if self._under_way:
            self._under_way = [buffer for buffer in self._under_way if not self._buffers.free[buffer]]
            for channel, queue in enumerate(self.queues):
                if queue:
                    await self._drain(channel)
