"""The PCI face of a NIC: the 16 MB region of fact sheet 3.7, as stores and loads of its host meet it."""

from __future__ import annotations

from collections.abc import Callable

from pymodels.machine.doorbell import Doorbells
from pymodels.machine.host_dma import HostDma
from pymodels.machine.memory import MachineError, Memory
from pymodels.machine.net_receive import NetReceive
from pymodels.machine.special import SpecialRegisters
from pymodels.machine.world import World
from pymodels.registers import Control, Pci, Size
from pymodels.trace import Part, TraceEvent, unit


class Card:
    """Address decoder and control register. It starts as a loader leaves it: out of reset, interrupts enabled."""

    def __init__(self, world: World, node: int, sram: Memory, special: SpecialRegisters) -> None:
        self.kind = special.kind
        self.sram_bytes = sram.size
        self.control = 0
        self.interrupt: Callable[[bool], None] = lambda level: None
        """The host's interrupt line, connected by the machine."""
        self._node = node
        self._sram = sram
        self._special = special
        self._receive: NetReceive
        self._dma: HostDma
        self._doorbells: Doorbells
        self._log = world.log
        self._unit = unit(node, Part.BRIDGE)
        self._pointers = [0] * Size.POINTERS
        special.interrupts_enabled = True

    def connect(self, receive: NetReceive, dma: HostDma, doorbells: Doorbells) -> None:
        """Give the decoder the engines behind it; on a LANai 4 nothing leads to chains and doorbells."""
        self._receive = receive
        self._dma = dma
        self._doorbells = doorbells

    def write(self, offset: int, data: bytes) -> None:
        """A burst of stores arrives: whole words at ascending addresses."""
        self._log.add(self._unit, TraceEvent.PIO_ACCEPT, 0, offset, len(data))
        if offset < Pci.CONFIG:
            self._sram.write(offset, data)
            self._sram.count("pio", offset, len(data))
            return
        for at in range(0, len(data), 4):
            self._write_word(offset + at, int.from_bytes(data[at : at + 4], "big"))

    def read(self, offset: int) -> int:
        """A load of one word arrives."""
        if offset < Pci.CONFIG:
            self._sram.count("pio", offset, 4)
            return self._sram.load(offset)
        if offset == Pci.CONTROL:
            return self.control
        if Pci.POINTERS <= offset < Pci.POINTERS + 4 * Size.POINTERS:
            return self._pointers[(offset - Pci.POINTERS) // 4]
        if Pci.REGISTERS <= offset < Pci.REGISTERS + Size.REGISTERS:
            return self._special.read(offset - Pci.REGISTERS)
        raise MachineError(f"node {self._node}: nothing to read at offset {offset:#08x} of the NIC's region")

    def _write_word(self, offset: int, value: int) -> None:
        if offset >= Pci.DOORBELL:
            fifo = (offset >> 12) & 3 if self.control >> Control.MULTI_QUEUE & 1 else 0
            self._doorbells.ring(offset, value, fifo)
        elif Pci.REGISTERS <= offset < Pci.REGISTERS + Size.REGISTERS:
            self._special.write_from_host(offset - Pci.REGISTERS, value)
        elif Pci.POINTERS <= offset < Pci.POINTERS + 4 * Size.POINTERS:
            self._write_pointer((offset - Pci.POINTERS) // 4, value)
        elif offset == Pci.CONTROL:
            self._write_control(value)
        else:
            raise MachineError(f"node {self._node}: nothing to write at offset {offset:#08x} of the NIC's region")

    def _write_pointer(self, index: int, value: int) -> None:
        self._pointers[index] = value
        if index < Size.CHAINS:
            self._dma.lists[index] = value & ~7
        elif index < Size.CHAINS + Size.DOORBELL_FIFOS:
            self._doorbells.set_base(index - Size.CHAINS, value)

    def _write_control(self, value: int) -> None:
        """Commands act, the low bits stay."""
        self.control = value & 0x1F
        self._doorbells.size_code = value & 7
        if value >> Control.LANAI_RESET_ON & 1:
            self._receive.absorb()
            self._special.reset()
        if value >> Control.LANAI_RESET_OFF & 1:
            self._receive.in_reset = False
        if value >> Control.IRQ_ENABLE & 1 or value >> Control.IRQ_DISABLE & 1:
            self._special.interrupts_enabled = bool(value >> Control.IRQ_ENABLE & 1)
            self._special.update_line()
        self._dma.pulse(value >> Control.TRIGGER0 & 0xF)
