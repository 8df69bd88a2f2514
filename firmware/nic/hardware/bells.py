"""The doorbell FIFO of a NIC that has one: stores into a region of the card, as entries that the firmware takes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol

from firmware.nic.hardware.services import Service
from firmware.verbs import Nic, Watch
from pymodels.registers import Isr, Pci, Reg, Size

Ring = Callable[[int, int, int], Awaitable[None]]
"""What is done for an entry: page of the region, offset in the page, the word that was stored."""
WAKE0 = 1 << Isr.WAKE0
PAGE = 4096
ENTRIES = Size.DOORBELL_FIFO // Size.DOORBELL_ENTRY


class Bells(Protocol):
    """The FIFO."""

    def services(self, ring: Ring) -> list[Service]:
        """What the polling loop must look at."""


class LanaiBells:
    """The first FIFO of a LANai 9, of 512 entries in SRAM."""

    def __init__(self, nic: Nic, base: int) -> None:
        """`base`: its SRAM address, a multiple of its size, loaded by the host."""
        self._nic, self._base = nic, base
        self._consumer = 0
        self._ring: Ring

    def services(self, ring: Ring) -> list[Service]:
        """Its bit of ISR."""
        self._ring = ring
        return [(Watch(Reg.ISR, 0, "packet_look", WAKE0, register=True), self._rung)]

    async def _rung(self) -> None:
        """Take all entries. The bit is cleared first: one that comes in between sets it again."""
        nic = self._nic
        nic.write(Reg.ISR, WAKE0)
        producer = await nic.read(Reg.DOORBELL_PRODUCER0)
        while self._consumer != producer:
            await nic.work("bell_entry")
            offset, value = nic.load_words(self._base + Size.DOORBELL_ENTRY * (self._consumer % ENTRIES), 2)
            self._consumer = self._consumer + 1 & 0x1FFFF
            nic.write(Reg.DOORBELL_CONSUMER0, self._consumer)
            await self._ring(*divmod(offset - Pci.DOORBELL, PAGE), value)
