"""The doorbell FIFO of a NIC that has one: stores into a region of the card, as entries that the firmware takes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol

from firmware.nic.hardware.services import Service
from firmware.verbs import Nic, Watch
from pymodels.nics.sp.registers import SpReg, SpStatus
from pymodels.registers import Isr, Pci, Reg, Size

Ring = Callable[[int, int, int], Awaitable[None]]
"""What is done for an entry: page of the region, offset in the page, the word that was stored."""
PAGE = 4096
ENTRIES = Size.DOORBELL_FIFO // Size.DOORBELL_ENTRY
COUNT = 0x1FFFF
"""Producers and consumers count entries in so many bits."""
FLAG = 1 << Isr.WAKE0


class Bells(Protocol):
    """The FIFO."""

    def services(self, ring: Ring) -> list[Service]:
        """What the polling loop must look at."""


class LanaiBells:
    """The first FIFO of a LANai 9, of 512 entries in SRAM: a bit of ISR says that one has come."""

    def __init__(self, nic: Nic, base: int) -> None:
        """`base`: its SRAM address, a multiple of its size; the host loads it into the card."""
        self._nic, self._base = nic, base
        self._consumer = 0
        self._ring: Ring

    def services(self, ring: Ring) -> list[Service]:
        """Its bit."""
        self._ring = ring
        return [(Watch(Reg.ISR, 0, "packet_look", FLAG, register=True), self._rung)]

    async def _rung(self) -> None:
        """Take all entries. The bit is cleared first: one that comes in between sets it again."""
        nic = self._nic
        nic.write(Reg.ISR, FLAG)
        producer = await nic.read(Reg.DOORBELL_PRODUCER0)
        while self._consumer != producer:
            await nic.work("bell_entry")
            offset, value = nic.load_words(self._base + Size.DOORBELL_ENTRY * (self._consumer % ENTRIES), 2)
            self._consumer = self._consumer + 1 & COUNT
            nic.write(Reg.DOORBELL_CONSUMER0, self._consumer)
            await self._ring(*divmod(offset - Pci.DOORBELL, PAGE), value)


class SpBells:
    """The FIFO of an SP adapter that has doorbells: a bit of STATUS says that it is not empty. The polling loop has
    looked at STATUS for the packets just before.
    """

    def __init__(self, nic: Nic, base: int) -> None:
        """`base`: its SRAM address, a multiple of its size."""
        self._nic, self._base = nic, base
        nic.write(SpReg.BELL_BASE, base)
        self._consumer = 0
        self._ring: Ring

    def services(self, ring: Ring) -> list[Service]:
        """Its bit."""
        self._ring = ring
        return [(Watch(SpReg.STATUS, 0, "sp_bell_look", 1 << SpStatus.BELL, register=True), self._rung)]

    async def _rung(self) -> None:
        """Take an entry; the bit stays while there are more."""
        nic = self._nic
        await nic.work("sp_bell_entry")
        offset, value = nic.load_words(self._base + Size.DOORBELL_ENTRY * (self._consumer % ENTRIES), 2)
        self._consumer = self._consumer + 1 & COUNT
        nic.write(SpReg.BELL_CONSUMER, self._consumer)
        await self._ring(*divmod(offset - Pci.DOORBELL, PAGE), value)
