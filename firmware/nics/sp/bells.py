"""The doorbells of an SP adapter."""

from __future__ import annotations

from firmware.common.nic.bells import COUNT, ENTRIES, PAGE, Ring
from firmware.common.nic.services import Service
from firmware.verbs import Nic, Watch
from pymodels.nics.sp.registers import SpReg, SpStatus
from pymodels.registers import Pci, Size


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
