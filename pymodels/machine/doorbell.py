"""Doorbells: a store of the host anywhere in the region appends {address, data} to a FIFO in SRAM (fact sheet 3.8).

FIFO k has its base in word 4 + k of the pointer bank and a size of 4 KB << s bytes; the base is aligned to the size.
The producer index counts entries; the firmware writes the consumer index (17 bits, wrapping). A write of the base
empties the FIFO. An entry for a full FIFO is lost, flagged and counted.
"""

from __future__ import annotations

from collections.abc import Callable

from pymodels.machine.memory import Memory
from pymodels.machine.world import World
from pymodels.registers import Isr, Size
from pymodels.trace import Part, TraceEvent, unit

INDEX = 0x1FFFF  # producer and consumer indices have 17 bits and wrap
WAKE0 = 1 << Isr.WAKE0


class Doorbells:
    """Doorbell FIFOs of one NIC."""

    def __init__(self, world: World, node: int, sram: Memory, raise_isr: Callable[[int, int], None]) -> None:
        self.bases = [0] * Size.DOORBELL_FIFOS
        self.producers = [0] * Size.DOORBELL_FIFOS
        self.consumers = [0] * Size.DOORBELL_FIFOS
        self.size_code = 0
        self.overflows = 0
        self._sram = sram
        self._unit = unit(node, Part.DOORBELL)
        self._log = world.log
        self._raise_isr = raise_isr

    @property
    def entries(self) -> int:
        """Capacity of a FIFO in entries."""
        return (Size.DOORBELL_FIFO << self.size_code) // Size.DOORBELL_ENTRY

    def set_base(self, fifo: int, address: int) -> None:
        """Handle a write of a base, which empties the FIFO."""
        self.bases[fifo] = address
        self.producers[fifo] = self.consumers[fifo] = 0

    def ring(self, offset: int, data: int, fifo: int = 0) -> None:
        """Handle a store of `data` at a byte offset in the card's region."""
        produced, consumed = self.producers[fifo], self.consumers[fifo]
        if produced - consumed & INDEX >= self.entries:
            self.overflows += 1
            self._raise_isr(1 << Isr.DOORBELL_OVERFLOW, 0)
            return
        size = Size.DOORBELL_FIFO << self.size_code
        at = (self.bases[fifo] & ~(size - 1)) + produced % self.entries * Size.DOORBELL_ENTRY
        self._sram.store_words(at, (offset, data))
        self._sram.count("doorbell", at, Size.DOORBELL_ENTRY)
        self.producers[fifo] = produced + 1 & INDEX
        self._log.add(self._unit, TraceEvent.DOORBELL, 0, offset, data)
        self._raise_isr(WAKE0, 0)
