"""State shared by all parts of the NIC's program: the machine, memory layout, VIs, counters, message numbers."""

from __future__ import annotations

from firmware.common.nic import PacketPort
from firmware.verbs import Nic
from firmware.via.formats import NUMBER
from firmware.via.nic.connection import Connection
from firmware.via.nic.endpoint import Endpoint
from firmware.via.nic.layout import EVENTS, Counter, Event, Layout, Word
from firmware.via.nic.words import EventWord
from firmware.via.options import Options
from firmware.view import ClusterView


class Ni:
    """State of one NIC."""

    def __init__(self, nic: Nic, view: ClusterView, port: PacketPort, layout: Layout) -> None:
        self.nic, self.port, self.layout = nic, port, layout
        self.options: Options = layout.options
        self.me = view.me
        self.endpoints = [Endpoint(nic, layout, number) for number in range(self.options.vis)]
        self._counts = [0] * len(Counter)
        self._number = 0
        self._event = 0
        self.fenced = 0
        """Number of deregistrations; earlier checks of addresses are void."""
        self.stores = 0
        """Number of stores given to the port."""

    async def store(self, address: int, words: tuple[int, ...], message: int = 0) -> None:
        """Store words, which may be about a message, to host memory after all earlier deliveries."""
        self.stores += 1
        await self.port.store(address, words, message)

    def number(self) -> int:
        """Return a new message number of this node."""
        self._number = self._number + 1 & NUMBER
        return self._number

    def key(self, connection: Connection, number: int) -> int:
        """Return the first header word of a message's packets."""
        return self.me << 24 | connection.number << 16 | number

    def count(self, counter: Counter) -> None:
        """Increment a counter that the host can read."""
        self._counts[counter] = value = self._counts[counter] + 1 & 0xFFFFFFFF
        self.nic.store_on(Word.COUNTERS + 4 * counter, (value,))

    async def report(self, event: Event, vi: int, detail: int = 0) -> None:
        """Report an event to the kernel by a word of its event ring and an interrupt."""
        await self.nic.work("tell_kernel")
        at = self.nic.load(Word.KERNEL) + 4 * self._event
        self._event = (self._event + 1) % EVENTS
        await self.store(at, EventWord.encode(event, vi, detail))
        await self.port.interrupt()
