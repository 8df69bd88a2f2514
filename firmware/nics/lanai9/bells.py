"""Doorbells of a LANai 9."""

from __future__ import annotations

from firmware.common.nic.bells import COUNT, ENTRIES, PAGE, Ring
from firmware.common.nic.services import Service
from firmware.verbs import Nic, Watch
from pymodels.registers import Isr, Pci, Reg, Size

FLAG = 1 << Isr.WAKE0


class LanaiBells:
    """First doorbell FIFO of a LANai 9: 512 entries in SRAM, and a bit of ISR for new ones."""

    def __init__(self, nic: Nic, base: int) -> None:
        """Create the FIFO at the SRAM address `base`, a multiple of its size, which the host loads into the card."""
        self._nic, self._base = nic, base
        self._consumer = 0
        self._ring: Ring

    def services(self, ring: Ring) -> list[Service]:
        """Return the service of the FIFO's ISR bit."""
        self._ring = ring
        return [(Watch(Reg.ISR, 0, "packet_look", FLAG, register=True), self._take_entries)]

    async def _take_entries(self) -> None:
        """Take all entries. The bit is cleared first, so that an entry that arrives meanwhile sets it again."""
        nic = self._nic
        nic.write(Reg.ISR, FLAG)
        producer = await nic.read(Reg.DOORBELL_PRODUCER0)
        while self._consumer != producer:
            await nic.work("bell_entry")
            offset, value = nic.load_words(self._base + Size.DOORBELL_ENTRY * (self._consumer % ENTRIES), 2)
            self._consumer = self._consumer + 1 & COUNT
            nic.write(Reg.DOORBELL_CONSUMER0, self._consumer)
            await self._ring(*divmod(offset - Pci.DOORBELL, PAGE), value)
