"""Messages to other kernel agents: sends of VI 0, from buffers of the kernel."""

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
    """Of one host. What it sends may be lost."""

    def __init__(
        self, host: Host, lock: KernelLock, sends: Cache, numbers: SendNumbers, buffers: MessageBuffers
    ) -> None:
        """`lock`, `sends`: the central send queue cache and its lock."""
        self._host, self._lock, self._sends, self._numbers = host, lock, sends, numbers
        self._places, self._next = buffers.sends, 0
        self._writing = KernelLock(host)

    async def send(self, node: int, message: Message) -> None:
        """Send a message to a node's kernel agent; waits until there is a place for it."""
        host = self._host
        await host.spend("agent_send")
        data = message.packed()
        async with self._writing:
            at = self._places[self._next]
            self._next = (self._next + 1) % PLACES
            while host.load_words(at, 1)[0] and not host.load_words(at + Field.STATUS, 1)[0]:
                await host.sleep(1_000_000, "a place for a message")  # without the caches' lock: the NIC may need it
            host.store_words(at, (1, 0, 0, 0, 0, 0, 0, 0))  # its first word: the place was used
            host.store_bytes(at + Field.SIZE, data)
            control = Control(Kind.SEND, False, False, 0, 1).word()
            words = (control, at, node << 16 | len(data))
            async with self._lock:
                self._numbers.posted(at, len(data))
                await self._sends.post(Entry(words, ((at + Field.SIZE, len(data)),)))
