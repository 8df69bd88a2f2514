"""Interrupt routine: reads the NIC's events and wakes the threads that wait for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from firmware.common.host.card import acknowledge
from firmware.via.host.kernel_agent.refill_list import Refill
from firmware.via.host.kernel_agent.rings.events import EventRing
from firmware.via.host.kernel_agent.sleepers import Sleepers
from firmware.via.host.kernel_agent.vis.table import ViTable
from firmware.via.nic.layout import Event, Word
from firmware.via.nic.words import EventWord


class InterruptHandler:
    """Interrupt routine of one NIC."""

    def __init__(
        self, vis: ViTable, events: EventRing, looks: Sequence[Callable[[], None]], sleepers: Sleepers
    ) -> None:
        """Create the handler; `looks` are further functions that it calls."""
        self._host, self._vis, self._events = vis.shared.host, vis, events
        self._refill, self._looks, self._sleepers = Refill(vis), looks, sleepers
        self.count = 0

    async def serve(self) -> None:
        """Serve an interrupt."""
        self.count += 1
        host = self._host
        await host.spend("serve_interrupt")
        await acknowledge(host)
        await host.pio_read(host.nic_base + Word.KERNEL)  # later events raise the interrupt again
        await self._read_events()
        await self._refill.run()
        for look in self._looks:
            look()
        self._sleepers.wake()

    async def _read_events(self) -> None:
        """Handle the new entries of the event ring."""
        while word := self._events.take():
            await self._host.spend("read_event")
            news = EventWord(word)
            if news.event == Event.BROKEN:
                await self._vis.contexts[news.vi].on_broken_report(news.detail)
