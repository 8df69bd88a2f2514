"""Host DMA of a LANai 4: one transfer of whole words at a time (fact sheet 3.6).

EAR, LAR and DMA_DIR define the transfer, and a write of DMA_CTR starts it; the ISR bit DMA (WAKE1 for firmware) reports
its end. Misuse that the chip ignores (a write during a transfer, or an address that is not a multiple of 4) raises an
error here. Data become visible in pieces, in order.
"""

from __future__ import annotations

from collections.abc import Callable

from pymodels.machine.memory import MachineError, Memory
from pymodels.machine.world import World
from pymodels.messages import PLACE
from pymodels.nics.lanai4.registers import Ebus
from pymodels.registers import Isr
from pymodels.trace import Part, TraceEvent, unit

DMA = 1 << Isr.WAKE1


class WordDma:
    """DMA engine between the SRAM of a NIC and the memory of its host."""

    def __init__(self, world: World, node: int, sram: Memory, raise_isr: Callable[[int, int], None]) -> None:
        self.host_memory: Memory
        self.check_grant: Callable[[int, int], None] = lambda address, size: None
        self.registers = dict.fromkeys(Ebus, 0)
        """Register values in firmware's numbering; DMA_CTR counts down."""
        self.transfers = 0
        self._kernel, self._timing, self._log = world.kernel, world.timing, world.log
        self._node, self._unit, self._sram, self._raise_isr = node, unit(node, Part.HOST_DMA), sram, raise_isr
        self._messages = world.messages.sram(node)
        self._done = 0

    @property
    def busy(self) -> bool:
        """True while a transfer runs."""
        return self.registers[Ebus.DMA_CTR] != 0

    def write(self, register: Ebus, value: int) -> None:
        """Handle a register write of the firmware."""
        if self.busy:
            raise MachineError(f"node {self._node}: {register.name} written while a host DMA is in work; wait for DMA")
        if value & 3 and register is not Ebus.DMA_DIR:
            raise MachineError(f"node {self._node}: {register.name} = {value:#x} is not a multiple of 4")
        self.registers[register] = value
        if register is Ebus.DMA_CTR:
            self._start(value)

    def _start(self, size: int) -> None:
        registers = self.registers
        self._sram.check(registers[Ebus.LAR], size)
        # A read may extend beyond the allocated range to the end of its last word.
        self.check_grant(registers[Ebus.EAR], size - 3 if registers[Ebus.DMA_DIR] else size)
        self._done = 0
        self._record(TraceEvent.DMA_START, size)
        self._next_piece(self._timing.dma_start)

    def _next_piece(self, delay: int) -> None:
        piece = min(self._timing.dma_chunk, self.registers[Ebus.DMA_CTR])
        self._kernel.at(self._kernel.now + delay + piece * self._timing.dma_byte, lambda: self._moved(piece))

    def _moved(self, piece: int) -> None:
        """Move a piece at the end of its time."""
        registers, done = self.registers, self._done
        host, sram = registers[Ebus.EAR] + done, registers[Ebus.LAR] + done
        if registers[Ebus.DMA_DIR]:
            self._sram.write(sram, self.host_memory.read(host, piece))
        else:
            self.host_memory.write(host, self._sram.read(sram, piece))
        self._sram.count("host dma", sram, piece)
        self._done += piece
        registers[Ebus.DMA_CTR] -= piece
        if self.busy:
            self._next_piece(0)
            return
        self.transfers += 1
        self._record(TraceEvent.DMA_DONE, self._done)
        self._raise_isr(DMA, 0)

    def _record(self, event: TraceEvent, size: int) -> None:
        """Add the start or the end of a transfer to the trace."""
        moved = size if self.registers[Ebus.DMA_DIR] else -size
        lar = self.registers[Ebus.LAR]
        self._log.add(self._unit, event, lar, 0, moved, self._messages[lar >> PLACE])
