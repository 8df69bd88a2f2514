"""Sender of messages to other kernel agents: sends of VI 0, from buffers of the kernel."""

from __future__ import annotations

from firmware.verbs import Host
from firmware.via.formats import Field
from firmware.via.host.kernel_agent.messages.buffers import PLACES, MessageBuffers
from firmware.via.host.kernel_agent.messages.message import Message
from firmware.via.host.kernel_agent.rings.cache import Cache, Entry
from firmware.via.host.kernel_agent.rings.lock import KernelLock
from firmware.via.host.kernel_agent.rings.send_numbers import SendNumbers
from firmware.via.nic.layout import Control, Kind


class MessageSender:
    """Message sender of one host. Messages may be lost."""

    def __init__(
        self, host: Host, lock: KernelLock, sends: Cache, numbers: SendNumbers, buffers: MessageBuffers
    ) -> None:
        """Create the sender.

        Args:
            host: Host of the kernel agent.
            lock: Lock of the queue caches.
            sends: Central send queue cache.
            numbers: Numbers of sends.
            buffers: Message buffers.
        """
        self._host, self._lock, self._sends, self._numbers = host, lock, sends, numbers
        self._places, self._next = buffers.sends, 0
        self._writing = KernelLock(host)

    async def send(self, node: int, message: Message) -> None:
        """Send a message to the kernel agent of a node, waiting for a free buffer."""
        host = self._host
        await host.spend("agent_send")
        data = message.packed()
        async with self._writing:
            at = self._places[self._next]
            self._next = (self._next + 1) % PLACES
            while host.load_words(at, 1)[0] and not host.load_words(at + Field.STATUS, 1)[0]:
                await host.sleep(1_000_000, "a place for a message")  # not under the caches' lock: a refill may need it
            host.store_words(at, (1, 0, 0, 0, 0, 0, 0, 0))  # a nonzero first word marks a used buffer
            host.store_bytes(at + Field.SIZE, data)
            control = Control(Kind.SEND, False, False, 0, 1).word()
            words = (control, at, node << 16 | len(data))
            async with self._lock:
                self._numbers.posted(at, len(data))
                await self._sends.post(Entry(words, ((at + Field.SIZE, len(data)),)))
