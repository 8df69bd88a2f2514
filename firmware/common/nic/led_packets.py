"""Packets of a LANai whose payload begins with words of the firmware (the lead), followed by fetched data.

    send slot        route, right-aligned (8) | header (8) | lead | fetched payload
    receive buffer   header (8) | lead | payload | syndrome

The firmware reads the lead of a received packet in place, and is notified when a delivery has ended.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, cast

from firmware.common.nic.lanai_packets import LanaiPackets
from firmware.common.nic.packets import PortEvents
from firmware.common.nic.services import Service
from firmware.common.nic.transfers import HEADER_BYTES, PortMap, Transfers, Way
from firmware.verbs import Nic
from firmware.view import ClusterView


class LedEvents(PortEvents, Protocol):
    """Callbacks of a port with leads, in addition to those of `PortEvents`."""

    async def delivered(self) -> None:
        """Handle the end of the oldest delivery not yet reported: its data are in host memory."""

    async def moved(self) -> None:
        """Handle the end of a `bring` or `take`."""


class LedPackets(LanaiPackets):
    """Packets of a LANai with a lead of up to `lead` bytes, a multiple of 8."""

    def __init__(
        self,
        nic: Nic,
        view: ClusterView,
        base: int,
        most: int,
        lead: int,
        transfers: Callable[[Nic, PortMap], Transfers],
    ) -> None:
        """Create the port; `most` is the maximum of fetched payload in bytes."""
        super().__init__(nic, view, base, most + lead, transfers)
        self._lead = lead
        self._led: LedEvents

    def _payload(self, slot: int) -> int:
        return super()._payload(slot) + self._lead

    async def launch_led(
        self, node: int, header: tuple[int, int], words: Sequence[int], size: int, message: int
    ) -> None:
        """Send a packet of a message: header, words of the whole lead, then the oldest fetch, of `size` bytes."""
        nic = self._nic
        await nic.work_on("packet_launch")
        await nic.work_on("packet_launch_word", len(words))
        at = self._map.slots[self._first]
        self._take(size)
        nic.store_words(at, (*nic.load_words(self._map.routes + 16 * node, 2), *header, *words))
        self._go(at, self._skips[node], self._lead + size, message)

    async def discard(self, size: int) -> None:
        """Discard the oldest fetch, of `size` bytes."""
        await self._nic.work("packet_discard")
        self._take(size)

    def words(self, count: int) -> tuple[int, ...]:
        """Return the next words of the received packet; the layer's path has the cost of the loads."""
        at = self._map.buffers[self._current] + HEADER_BYTES + self._taken
        self._taken += 4 * count
        return self._nic.load_words(at, count)

    def services(self, on: PortEvents) -> list[Service]:
        """Return the services of the two network engines and of the ends of transfers."""
        self._led = cast("LedEvents", on)
        return super().services(on)

    async def _over(self, transfers: list[tuple[Way, int]]) -> None:
        await super()._over(transfers)
        for way, _ in transfers:
            if way is Way.DELIVER:
                await self._led.delivered()
            elif way in (Way.BRING, Way.TAKE):
                await self._led.moved()

    async def bring(self, local: int, host: int, size: int) -> None:
        """Start a copy from host memory to the firmware's memory. `LedEvents.moved` reports its end."""
        await self._dma.bring(local, host, size)

    async def take(self, local: int, host: int, size: int) -> None:
        """Start a copy from the firmware's memory to host memory. `LedEvents.moved` reports its end."""
        while self._dma.full:
            await self._wait()
        await self._dma.take(local, host, size)
