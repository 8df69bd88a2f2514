"""FIFO card as a kind of NIC: no processor, no DMA, a memory that the host maps."""

from __future__ import annotations

from dataclasses import dataclass

from pymodels.cards import SLOT, CardMap
from pymodels.hardware.kind import NicKind
from pymodels.hardware.value import Values
from pymodels.nics.common.lanai import CDC_LATENCY
from pymodels.nics.common.myrinet import MYRINET
from pymodels.nics.fifo.registers import Region, Size
from pymodels.settings import OWN, Setting


@dataclass(frozen=True)
class FifoMap(CardMap):
    """Address map of the FIFO card."""


@dataclass(frozen=True)
class FifoCard(NicKind):
    """FIFO card on Myrinet links."""

    def card(self, sram_bytes: int, values: Values | None = None) -> CardMap:
        return FifoMap(SLOT + Region.MEMORY, SLOT + Region.MODE, SLOT + Region.STATUS, most_payload=Size.BUFFER)

    def settings(self, values: Values) -> dict[int, int]:
        return {int(Setting.CDC_LATENCY): CDC_LATENCY}

    def disagreement(self, values: Values) -> tuple[str, str] | None:
        """Check that the memory size is that of the card, which has fixed addresses for buffers and cells."""
        if values.integer("sram.bytes") == Size.MEMORY:
            return None
        return f"the FIFO card's memory has {int(Size.MEMORY)} bytes", f"write sram.bytes = {int(Size.MEMORY)}"


INVARIANTS = {
    OWN: "invalid access: the FIFO card rejected an access of its host; see ERRORS",
    OWN + 1: "cell dropped: the FIFO card received a cell with a wrong size, HEC or CRC-8",
}
KIND = FifoCard("fifo", "a FIFO card", MYRINET, Size.MEMORY, "sim_fifo_nic", boots=False, invariants=INVARIANTS)
