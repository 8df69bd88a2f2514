"""PCI interface of a NIC: the 16 MB region of fact sheet 3.7."""

from __future__ import annotations

from collections.abc import Callable

from pymodels.machine.doorbell import Doorbells
from pymodels.machine.host_dma import HostDma
from pymodels.machine.memory import Memory
from pymodels.machine.net_receive import NetReceive
from pymodels.machine.special import SpecialRegisters
from pymodels.machine.window import Window
from pymodels.machine.world import World
from pymodels.registers import Control, Pci, Size


class Card(Window):
    """Address decoder and control register. The initial state is that after loading: out of reset, interrupts
    enabled.
    """

    def __init__(self, world: World, node: int, sram: Memory, special: SpecialRegisters) -> None:
        super().__init__(world, node, sram)
        self.control = 0
        self._special = special
        self._receive: NetReceive
        self._dma: HostDma
        self._doorbells: Doorbells
        self._pointers = [0] * Size.POINTERS
        self.on_reset: Callable[[], None] = lambda: None
        """Callback at LANai reset, which stops the send engine and the processor."""
        self.on_release: Callable[[], None] = lambda: None
        """Callback at the release of LANai reset."""
        special.interrupts_enabled = True

    def connect(self, receive: NetReceive, dma: HostDma, doorbells: Doorbells) -> None:
        """Connect the engines behind the decoder; engines that the card lacks stay unconnected."""
        self._receive = receive
        self._dma = dma
        self._doorbells = doorbells

    def _read_word(self, offset: int) -> int:
        if offset == Pci.CONTROL:
            return self.control
        if Pci.POINTERS <= offset < Pci.POINTERS + 4 * Size.POINTERS:
            return self._pointers[(offset - Pci.POINTERS) // 4]
        if Pci.REGISTERS <= offset < Pci.REGISTERS + Size.REGISTERS:
            return self._special.read(offset - Pci.REGISTERS)
        raise self._nothing("read", offset)

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
            raise self._nothing("write", offset)

    def _write_pointer(self, index: int, value: int) -> None:
        self._pointers[index] = value
        if index < Size.CHAINS:
            self._dma.lists[index] = value & ~7
        elif index < Size.CHAINS + Size.DOORBELL_FIFOS:
            self._doorbells.set_base(index - Size.CHAINS, value)

    def _write_control(self, value: int) -> None:
        """Execute the command bits and store the low bits."""
        self.control = value & 0x1F
        self._doorbells.size_code = value & 7
        if value >> Control.EBUS_RESET_ON & 1 or value >> Control.EBUS_RESET_OFF & 1:
            self._dma.reset(bool(value >> Control.EBUS_RESET_ON & 1))
        if value >> Control.LANAI_RESET_ON & 1:
            self._receive.absorb()
            self._special.reset()
            self.on_reset()
        if value >> Control.LANAI_RESET_OFF & 1:
            was_held = self._special.in_reset
            self._receive.in_reset = self._special.in_reset = False
            if was_held:
                self.on_release()
        if value >> Control.IRQ_ENABLE & 1 or value >> Control.IRQ_DISABLE & 1:
            self._special.interrupts_enabled = bool(value >> Control.IRQ_ENABLE & 1)
            self._special.update_line()
        self._dma.pulse(value >> Control.TRIGGER0 & 0xF)
