"""Outgoing queues of all channels in NI memory as the host fills them, and the overflow queues in front of them."""

from __future__ import annotations

from collections import deque

from firmware.grim.host.channel_queue import Outgoing, Piece
from firmware.grim.host.hybrid import HybridOutgoing
from firmware.grim.nic.layout import Layout
from firmware.grim.options import Options
from firmware.verbs import Host


class OutQueues:
    """Outgoing queues of one host. Only one task at a time injects into a channel."""

    def __init__(self, host: Host, layout: Layout, options: Options) -> None:
        self._host = host
        channels = range(options.channels)
        queue = HybridOutgoing if options.queue_style == "hybrid" else Outgoing
        self.outgoing = [queue(host, layout, options, channel) for channel in channels]
        self.overflow: list[deque[Piece]] = [deque() for _ in channels]
        """Messages and segments of handlers that found no room, by channel."""
        self.locked = [False] * options.channels
        """True while a task injects into the channel."""
        self.unlocked = host.event("another task's send")

    def taken(self, channel: int) -> bool:
        """Return True if a message must wait: another task injects into the channel, or its overflow queue is not
        empty.
        """
        return self.locked[channel] or bool(self.overflow[channel])

    def overflowed(self) -> bool:
        """Return True if any overflow queue has messages."""
        return any(self.overflow)

    async def drain(self) -> None:
        """Inject messages from the overflow queues as far as there is room."""
        for channel, queue in enumerate(self.overflow):
            if not queue or self.locked[channel]:
                continue
            out = self.outgoing[channel]
            self.locked[channel] = True
            try:
                while queue:
                    if not out.takes(queue[0]):
                        await out.look()
                        if not out.takes(queue[0]):
                            break
                    await self._host.spend("overflow_send")
                    await out.put(queue.popleft())
            finally:
                self.locked[channel] = False
                self.unlocked.set()
