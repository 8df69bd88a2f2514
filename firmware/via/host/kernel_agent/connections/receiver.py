"""Receiver of messages from other kernel agents: receives of VI 0, into buffers of the kernel."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from firmware.verbs import Host
from firmware.via.formats import Field
from firmware.via.host.common.work_queues import RECEIVED
from firmware.via.host.kernel_agent.messages.buffers import MESSAGE_BYTES, PLACES, MessageBuffers
from firmware.via.host.kernel_agent.messages.message import Message
from firmware.via.host.kernel_agent.rings.cache import Entry
from firmware.via.host.kernel_agent.rings.lock import KernelLock
from firmware.via.host.kernel_agent.vis.context import ViContext
from firmware.via.nic.layout import Control, Kind, State, Vi


class MessageReceiver:
    """Message receiver of one host."""

    def __init__(
        self,
        host: Host,
        lock: KernelLock,
        vi: ViContext,
        buffers: MessageBuffers,
        on_message: Callable[[Message, int], None],
    ) -> None:
        """Create the receiver.

        Args:
            host: Host of the kernel agent.
            lock: Lock of the queue caches.
            vi: VI 0.
            buffers: Message buffers.
            on_message: Called with each message and its number in the trace.
        """
        self._host, self._lock, self._vi, self._on_message = host, lock, vi, on_message
        self._places, self._next = buffers.receives, 0
        self._read: deque[int] = deque()

    async def start(self) -> None:
        """Post the receives."""
        await self._vi.set_state(State.CONNECTED)
        await self._vi.write(Vi.NOTIFY, RECEIVED)
        for at in self._places:
            await self._post(at)

    async def _post(self, at: int) -> None:
        self._host.store_words(at + Field.LENGTH, (0, 0))
        words = (Control(Kind.RECEIVE, False, False, 0, 1).word(), at, MESSAGE_BYTES)
        await self._vi.receives.post(Entry(words, ((at + Field.SIZE, MESSAGE_BYTES),)))

    def look(self) -> None:
        """Read the received messages in order, and post their buffers again."""
        host = self._host
        while host.load_words((at := self._places[self._next]) + Field.STATUS, 1)[0]:
            self._next = (self._next + 1) % PLACES
            self._on_message(Message.decode(host.load_bytes(at + Field.SIZE, MESSAGE_BYTES)), host.message_at(at))
            host.store_words(at + Field.LENGTH, (0, 0))
            self._read.append(at)
        if self._read:
            host.spawn(self._again(), "places for messages")

    async def _again(self) -> None:
        async with self._lock:
            while self._read:
                await self._post(self._read.popleft())
