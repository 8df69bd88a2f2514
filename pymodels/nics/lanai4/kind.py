"""LANai 4 as a kind of NIC: own address map and ISR bits, no chains, no doorbells, one clock."""

from __future__ import annotations

from dataclasses import dataclass

from pymodels.cards import SLOT, CardMap
from pymodels.costs.targets import LANAI
from pymodels.hardware.value import Values
from pymodels.nics.common.lanai import KEYS, SRAM_PORTS, Lanai
from pymodels.nics.common.myrinet import MYRINET
from pymodels.nics.lanai4.registers import Pci4, bits_here, name_at, place
from pymodels.registers import Pci
from pymodels.settings import Setting

LOW_SRAM = Pci4.EEPROM - Pci4.SRAM
"""Size of the first SRAM region; a board with more SRAM has it after the other regions."""


@dataclass(frozen=True)
class Card4(CardMap):
    """Address map of the card, with registers and bits translated from the numbering that firmware and driver use."""

    def offset(self, address: int, sram_bytes: int) -> int:
        if self.sram <= address < self.sram + sram_bytes:
            return address - self.sram
        if address == self.control:
            return Pci.CONTROL
        there = name_at(address - self.registers)
        return -1 if there is None else Pci.REGISTERS + there

    def register(self, register: int) -> int:
        return self.registers + place(register)

    def signal(self, value: int) -> int:
        return bits_here(value)


@dataclass(frozen=True)
class Lanai4(Lanai):
    """LANai 4 on a card whose NIC and PCI bus have one clock (readings A8)."""

    def card(self, sram_bytes: int, values: Values | None = None) -> CardMap:
        sram = Pci4.SRAM_1MB if sram_bytes > LOW_SRAM else Pci4.SRAM
        return Card4(SLOT + sram, SLOT + Pci4.CONTROL, SLOT + Pci4.REGISTERS, moves_bytes=False)

    def settings(self, values: Values) -> dict[int, int]:
        return super().settings(values) | {int(Setting.SRAM_ABOVE): int(values.integer("sram.bytes") > LOW_SRAM)}


KIND = Lanai4(
    "lanai4",
    "a LANai 4",
    MYRINET,
    1 << 20,
    "sim_lanai4_card",
    LANAI,
    one_clock=True,
    board=4,
    sram_ports=SRAM_PORTS,
    keys=KEYS,
)
