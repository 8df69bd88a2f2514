"""Receive buffers: packets are handed over to the layer of their protocol, then their buffers go back to the NIC."""

from __future__ import annotations

from firmware.common.host.words import store_words
from firmware.hal.host.errors import HalError
from firmware.hal.host.interface import Handler, Packet
from firmware.hal.nic.layout import BUFFERS, MOST, PROTOCOLS, Came, Place, Word
from firmware.verbs import Buffer, Host
from pymodels.host.moves import Moves
from pymodels.trace import TraceEvent

TOGETHER = 8
"""So many buffers go back at a time (readings C19)."""


class Receiver:
    """The packets that have come, in the order in which the NIC has stored them."""

    def __init__(self, host: Host, memory: Buffer) -> None:
        """`memory`: the host's part."""
        self._host, self._memory = host, memory
        self._handlers: dict[int, Handler] = {}
        self._taken = 0
        self.busy = False
        """A task hands packets over."""
        self.idle = host.event("the packets that another task hands over")
        self.moves = Moves()
        """Of the word that tells of the next packet, and of what others wait for."""
        self.unclaimed = 0
        """Packets of a protocol that nobody has."""

    def on_packet(self, protocol: int, handler: Handler) -> None:
        """Raises HalError for a number that is not a protocol's, or that is taken."""
        if protocol not in range(PROTOCOLS):
            raise HalError(f"protocol {protocol!r}", "there is no such number", f"give 0 to {PROTOCOLS - 1}")
        if protocol in self._handlers:
            raise HalError(f"protocol {protocol}", "another layer has it", "take another number")
        self._handlers[protocol] = handler

    @property
    def word(self) -> int:
        """Physical address of the word that is not 0 when the next packet is here."""
        return self._came + 4

    @property
    def _came(self) -> int:
        return self._memory.address + Place.CAME + 8 * (self._taken % BUFFERS)

    def here(self) -> bool:
        """Whether a packet is."""
        return self._host.load_words(self.word, 1) != (0,)

    async def poll(self) -> int:
        """Hand over what is here, unless another task does so; how many packets."""
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
        """The next packet."""
        host, words = self._host, self._host.load_words(self._came, 2)
        source, protocol, size = Came.of(words)
        host.trace(TraceEvent.POLL_HIT, words[0], 0, source)
        await host.spend("hal_receive")
        await host.overhead("packet")
        handler = self._handlers.get(protocol)
        begin = Place.RECEIVE + MOST * (self._taken % BUFFERS)
        if handler is None:
            self.unclaimed += 1
        else:
            host.trace(TraceEvent.HANDLER_START, words[0], protocol, source)
            packet = Packet(source, self._memory.address + begin, self._memory.view[begin : begin + size])
            await handler(packet)
            host.trace(TraceEvent.HANDLER_END, words[0], protocol, source)
        host.store_words(self.word, (0,))
        self._taken += 1
        self.moves.moved()
        if self._taken % TOGETHER == 0:
            await host.spend("hal_free")
            await store_words(host, Word.FREED, self._taken & 0xFFFFFFFF)
