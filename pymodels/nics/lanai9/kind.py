"""LANai 9 as a kind of NIC."""

from __future__ import annotations

from dataclasses import dataclass

from pymodels.cards import SLOT, CardMap
from pymodels.costs.targets import LANAI
from pymodels.hardware.value import Values
from pymodels.nics.common.lanai import KEYS, SRAM_PORTS, Lanai
from pymodels.nics.common.myrinet import MYRINET
from pymodels.registers import Pci


@dataclass(frozen=True)
class Lanai9(Lanai):
    """LANai 9 on a card with doorbells, and with DMA chains that the host can start."""

    def card(self, sram_bytes: int, values: Values | None = None) -> CardMap:
        places = SLOT + Pci.SRAM, SLOT + Pci.CONTROL, SLOT + Pci.REGISTERS
        return CardMap(*places, has_doorbells=True, has_chains=True)


KIND = Lanai9("lanai9", "a LANai 9", MYRINET, 2 << 20, "sim_lanai9_card", LANAI, sram_ports=SRAM_PORTS, keys=KEYS)
