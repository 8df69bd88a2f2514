"""Packets of a LANai whose payload begins with words of the firmware, its lead, and goes on with what was fetched.

    send slot        route, right-aligned (8) | header (8) | lead | fetched payload
    receive buffer   header (8) | lead | payload | syndrome

The firmware reads the lead of a packet that has come where it stands, and is told when a delivery has ended.
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
    """What such a port tells the layer beside the others."""

    async def delivered(self) -> None:
        """The oldest delivery that was not yet told of is in host memory."""

    async def moved(self) -> None:
        """What was brought, or taken, is there."""


class LedPackets(LanaiPackets):
    """The packets of a LANai, with a lead of up to `lead` bytes, a multiple of 8."""

    def __init__(
        self,
        nic: Nic,
        view: ClusterView,
        base: int,
        most: int,
        lead: int,
        transfers: Callable[[Nic, PortMap], Transfers],
    ) -> None:
        """`most`: bytes of fetched payload a packet."""
        super().__init__(nic, view, base, most + lead, transfers)
        self._lead = lead
        self._led: LedEvents

    def _payload(self, slot: int) -> int:
        return super()._payload(slot) + self._lead

    async def launch_led(self, node: int, header: tuple[int, int], words: Sequence[int], size: int) -> None:
        """Send a packet to a node: header, the words of the lead, all of it, then the oldest fetch, of `size` bytes."""
        nic = self._nic
        await nic.work_on("packet_launch")
        await nic.work_on("packet_launch_word", len(words))
        at = self._map.slots[self._first]
        self._take(size)
        nic.store_words(at, (*nic.load_words(self._map.routes + 16 * node, 2), *header, *words))
        self._go(at, self._skips[node], self._lead + size)

    async def discard(self, size: int) -> None:
        """The oldest fetch, of `size` bytes, is not wanted any more."""
        await self._nic.work("packet_discard")
        self._take(size)

    def words(self, count: int) -> tuple[int, ...]:
        """The next words of the packet that has come; their loads are in the layer's path."""
        at = self._map.buffers[self._current] + HEADER_BYTES + self._taken
        self._taken += 4 * count
        return self._nic.load_words(at, count)

    def services(self, on: PortEvents) -> list[Service]:
        """The two engines of the network, and the ends of transfers."""
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
        """Memory of the firmware's out of host memory; `LedEvents.moved` tells when it is here."""
        await self._dma.bring(local, host, size)

    async def take(self, local: int, host: int, size: int) -> None:
        """Such memory to the host; the same."""
        while self._dma.full:
            await self._wait()
        await self._dma.take(local, host, size)
