"""Receive buffers: packets are passed to the handler of their protocol, then their buffers return to the NIC."""

from __future__ import annotations

from firmware.common.host.words import store_words
from firmware.hal.host.errors import HalError
from firmware.hal.host.interface import Handler, Packet
from firmware.hal.nic.layout import BUFFERS, MOST, PROTOCOLS, Came, Place, Word
from firmware.verbs import Buffer, Host
from pymodels.host.moves import Moves
from pymodels.trace import TraceEvent

TOGETHER = 8
"""Number of buffers returned to the NIC at a time (readings C19)."""


class Receiver:
    """Receive buffers of one host, in the order in which the NIC fills them."""

    def __init__(self, host: Host, memory: Buffer) -> None:
        """Create the receiver; `memory` holds the host buffers."""
        self._host, self._memory = host, memory
        self._handlers: dict[int, Handler] = {}
        self._taken = 0
        self.busy = False
        """True while a task hands packets over."""
        self.idle = host.event("the packet handlers of another task")
        self.moves = Moves()
        """Counter of changes that waiting tasks depend on."""
        self.unclaimed = 0
        """Number of packets without a handler for their protocol."""

    def on_packet(self, protocol: int, handler: Handler) -> None:
        """Set the handler of a protocol. Raises HalError for an invalid or used protocol number."""
        if protocol not in range(PROTOCOLS):
            raise HalError(f"protocol {protocol!r}", "invalid protocol number", f"give 0 to {PROTOCOLS - 1}")
        if protocol in self._handlers:
            raise HalError(f"protocol {protocol}", "used by another layer", "use another number")
        self._handlers[protocol] = handler

    @property
    def word(self) -> int:
        """Physical address of the word that is nonzero when the next packet is in memory."""
        return self._came + 4

    @property
    def _came(self) -> int:
        return self._memory.address + Place.CAME + 8 * (self._taken % BUFFERS)

    def here(self) -> bool:
        """Return True if a packet is in memory."""
        return self._host.load_words(self.word, 1) != (0,)

    async def poll(self) -> int:
        """Hand over the received packets, unless another task does. Return how many were handed over."""
        if self.busy:
            return 0
        self.busy, count = True, 0
        try:
            while self.here():
                await self._take()
                count += 1
        finally:
            self.busy = False
            self.idle.set()
        return count

    async def _take(self) -> None:
        """Hand the next packet over and release its buffer."""
        host, words = self._host, self._host.load_words(self._came, 2)
        source, protocol, size = Came.decode(words)
        begin = Place.RECEIVE + MOST * (self._taken % BUFFERS)
        message = host.message_at(self._memory.address + begin)
        host.trace(TraceEvent.POLL_HIT, words[0], 0, source, message=message)
        await host.spend("hal_receive")
        await host.overhead("packet")
        handler = self._handlers.get(protocol)
        if handler is None:
            self.unclaimed += 1
        else:
            host.trace(TraceEvent.HANDLER_START, words[0], protocol, source, message=message)
            packet = Packet(source, self._memory.address + begin, self._memory.view[begin : begin + size])
            await handler(packet)
            host.trace(TraceEvent.HANDLER_END, words[0], protocol, source, message=message)
        host.store_words(self.word, (0,))
        self._taken += 1
        self.moves.moved()
        if self._taken % TOGETHER == 0:
            await host.spend("hal_free")
            await store_words(host, Word.FREED, self._taken & 0xFFFFFFFF)
