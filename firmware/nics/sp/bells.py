"""Doorbells of an SP adapter."""

from __future__ import annotations

from firmware.common.nic.bells import COUNT, ENTRIES, PAGE, Ring
from firmware.common.nic.services import Service
from firmware.verbs import Nic, Watch
from pymodels.nics.sp.registers import SpReg, SpStatus
from pymodels.registers import Pci, Size


class SpBells:
    """Doorbell FIFO of an SP adapter: a bit of STATUS is set while it is not empty.

    The polling loop has sampled STATUS for the packets just before.
    """

    def __init__(self, nic: Nic, base: int) -> None:
        """Create the FIFO at the SRAM address `base`, a multiple of its size."""
        self._nic, self._base = nic, base
        nic.write(SpReg.BELL_BASE, base)
        self._consumer = 0
        self._ring: Ring

    def services(self, ring: Ring) -> list[Service]:
        """Return the service of the FIFO's STATUS bit."""
        self._ring = ring
        return [(Watch(SpReg.STATUS, 0, "sp_bell_look", 1 << SpStatus.BELL, register=True), self._take_entries)]

    async def _take_entries(self) -> None:
        """Take one entry. The bit stays set while there are more."""
        nic = self._nic
        await nic.work("sp_bell_entry")
        offset, value = nic.load_words(self._base + Size.DOORBELL_ENTRY * (self._consumer % ENTRIES), 2)
        self._consumer = self._consumer + 1 & COUNT
        nic.write(SpReg.BELL_CONSUMER, self._consumer)
        await self._ring(*divmod(offset - Pci.DOORBELL, PAGE), value)
