"""The doorbell FIFO of a NIC that has one: stores into a region of the card, as entries that the firmware takes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

from firmware.nic.hardware.services import Service
from firmware.verbs import Nic, Watch
from pymodels.registers import Isr, Pci, Reg, Size
from pymodels.sp_adapter import SpReg, SpStatus

Ring = Callable[[int, int, int], Awaitable[None]]
"""What is done for an entry: page of the region, offset in the page, the word that was stored."""
PAGE = 4096
ENTRIES = Size.DOORBELL_FIFO // Size.DOORBELL_ENTRY


class Bells(Protocol):
    """The FIFO."""

    def services(self, ring: Ring) -> list[Service]:
        """What the polling loop must look at."""


@dataclass(frozen=True)
class Places:
    """Where a NIC has the registers of its FIFO."""

    status: int
    flag: int
    """The bit there that says of an entry; writing it to `acknowledge` clears it."""
    acknowledge: int
    producer: int
    consumer: int


LANAI = Places(Reg.ISR, 1 << Isr.WAKE0, Reg.ISR, Reg.DOORBELL_PRODUCER0, Reg.DOORBELL_CONSUMER0)
SP = Places(SpReg.STATUS, 1 << SpStatus.BELL, SpReg.ACK, SpReg.BELL_PRODUCER, SpReg.BELL_CONSUMER)


class FifoBells:
    """A FIFO of 512 entries in SRAM: the first one of a LANai 9, or the one of an SP adapter that has doorbells."""

    def __init__(self, nic: Nic, base: int) -> None:
        """`base`: its SRAM address, a multiple of its size; the host loads it into a LANai, the adapter's processor
        into the adapter.
        """
        self._nic, self._base = nic, base
        self._at = SP if nic.kind == "sp" else LANAI
        if nic.kind == "sp":
            nic.write(SpReg.BELL_BASE, base)
        self._consumer = 0
        self._ring: Ring

    def services(self, ring: Ring) -> list[Service]:
        """Its bit."""
        self._ring = ring
        return [(Watch(self._at.status, 0, "packet_look", self._at.flag, register=True), self._rung)]

    async def _rung(self) -> None:
        """Take all entries. The bit is cleared first: one that comes in between sets it again."""
        nic = self._nic
        nic.write(self._at.acknowledge, self._at.flag)
        producer = await nic.read(self._at.producer)
        while self._consumer != producer:
            await nic.work("bell_entry")
            offset, value = nic.load_words(self._base + Size.DOORBELL_ENTRY * (self._consumer % ENTRIES), 2)
            self._consumer = self._consumer + 1 & 0x1FFFF
            nic.write(self._at.consumer, self._consumer)
            await self._ring(*divmod(offset - Pci.DOORBELL, PAGE), value)
