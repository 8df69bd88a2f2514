"""The doorbells of a LANai 9."""

from __future__ import annotations

from firmware.common.nic.bells import COUNT, ENTRIES, PAGE, Ring
from firmware.common.nic.services import Service
from firmware.verbs import Nic, Watch
from pymodels.registers import Isr, Pci, Reg, Size

FLAG = 1 << Isr.WAKE0


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
