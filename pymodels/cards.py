"""Where the regions of a NIC's card stand on the host's bus, by the kind of NIC (fact sheet 3.7)."""

from __future__ import annotations

from dataclasses import dataclass

from pymodels import lanai4
from pymodels.lanai4 import Pci4
from pymodels.registers import Pci
from pymodels.sp_adapter import SpControl, SpPci

SLOT, SLOT_BYTES = 0xE0000000, 0x01000000
"""Physical address of the first slot's region, and from one slot to the next."""
LOW_SRAM = Pci4.EEPROM - Pci4.SRAM
"""A LANai 4 board with more SRAM than this has it behind the other regions."""


@dataclass(frozen=True)
class CardMap:
    """Physical addresses of a card's regions."""

    kind: str
    sram: int
    control: int
    """The control register."""
    registers: int
    has_doorbells: bool
    """Stores into a region of the card become entries of a FIFO."""

    @classmethod
    def of(cls, kind: str, sram_bytes: int, has_doorbells: bool = True) -> CardMap:
        """The map of a card with so much SRAM in the first slot. `has_doorbells`: of an SP adapter, which may."""
        if kind == "lanai4":
            sram = Pci4.SRAM_1MB if sram_bytes > LOW_SRAM else Pci4.SRAM
            return cls(kind, SLOT + sram, SLOT + Pci4.CONTROL, SLOT + Pci4.REGISTERS, False)
        if kind == "sp":
            return cls(kind, SLOT + SpPci.SRAM, SLOT + SpPci.CONTROL, SLOT + SpPci.CONTROL, has_doorbells)
        return cls(kind, SLOT + Pci.SRAM, SLOT + Pci.CONTROL, SLOT + Pci.REGISTERS, True)

    @property
    def has_chains(self) -> bool:
        """The card has DMA chains, whose first blocks the host loads, and doorbells."""
        return self.kind == "lanai9"

    @property
    def moves_bytes(self) -> bool:
        """The card's host DMA moves any number of bytes from and to any place; otherwise whole words."""
        return self.kind != "lanai4"

    def offset(self, address: int, sram_bytes: int) -> int:
        """What stands at an address, as the offset that it has on a LANai 9's card; -1 for nothing."""
        if self.kind != "lanai4":
            return address - SLOT if SLOT <= address < SLOT + Pci.END else -1
        if self.sram <= address < self.sram + sram_bytes:
            return address - self.sram
        if address == self.control:
            return Pci.CONTROL
        there = lanai4.name_at(address - self.registers)
        return -1 if there is None else Pci.REGISTERS + there

    def register(self, register: int) -> int:
        """Physical address of a special register, named as firmware names it; on an SP adapter the host has only the
        control register, which has the interrupt.
        """
        if self.kind == "sp":
            return self.control
        return self.registers + (lanai4.place(register) if self.kind == "lanai4" else register)

    def signal(self, value: int) -> int:
        """A word of ISR bits, named as firmware names them, as this card has it; on an SP adapter the interrupt."""
        if self.kind == "sp":
            return 1 << SpControl.INTERRUPT
        return lanai4.bits_here(value) if self.kind == "lanai4" else value
