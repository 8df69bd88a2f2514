"""Model of the doorbell FIFOs: writes to the doorbell region become entries in SRAM (fact sheet 3.8)."""

from __future__ import annotations

from pymodels.registers import Size

INDEX_BITS = 17
"""Width of the producer and consumer indices, which wrap (ours)."""


class DoorbellModel:
    """Up to four doorbell FIFOs.

    Args:
        sram: SRAM image, written.
        bases: SRAM address of each FIFO, aligned to its size.
        size: FIFO size field: 4 KB << size.
        multi: True for four FIFOs, selected by address bits 13:12 (ours).
    """

    def __init__(self, sram: bytearray, bases: list[int], size: int, multi: bool) -> None:
        self.sram, self.bases, self.multi = sram, bases, multi
        self.entries = (Size.DOORBELL_FIFO << size) // Size.DOORBELL_ENTRY
        self.producer = [0] * Size.DOORBELL_FIFOS
        self.consumer = [0] * Size.DOORBELL_FIFOS
        self.overflows = 0

    def write(self, address: int, data: bytes) -> bool:
        """Handle a 32-bit write of the host at a region offset. Return False if the entry was dropped."""
        fifo = address >> 12 & 3 if self.multi else 0
        fill = self.producer[fifo] - self.consumer[fifo] & (1 << INDEX_BITS) - 1
        if fill >= self.entries:
            self.overflows += 1
            return False
        slot = self.bases[fifo] + self.producer[fifo] % self.entries * Size.DOORBELL_ENTRY
        self.sram[slot : slot + 8] = address.to_bytes(4, "big") + data
        self.producer[fifo] = self.producer[fifo] + 1 & (1 << INDEX_BITS) - 1
        return True
