"""PCI window of a NIC: SRAM first, followed by words of the card."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

from pymodels.machine.memory import MachineError, Memory
from pymodels.machine.world import World
from pymodels.registers import Pci


class Window(ABC):
    """Address decoder; each kind of card defines its own words."""

    def __init__(self, world: World, node: int, sram: Memory) -> None:
        self.sram_bytes = sram.size
        self.interrupt: Callable[[bool], None] = lambda level: None
        """Interrupt line of the host, connected by the machine."""
        self._node = node
        self._sram = sram

    def write(self, offset: int, data: bytes) -> None:
        """Handle a burst of stores: whole words at ascending addresses."""
        if offset < Pci.CONFIG:
            self._sram.write(offset, data)
            self._sram.count("pio", offset, len(data))
            return
        for at in range(0, len(data), 4):
            self._write_word(offset + at, int.from_bytes(data[at : at + 4], "big"))

    def read(self, offset: int) -> int:
        """Return one word for a load."""
        if offset >= Pci.CONFIG:
            return self._read_word(offset)
        self._sram.count("pio", offset, 4)
        return self._sram.load(offset)

    @abstractmethod
    def _write_word(self, offset: int, value: int) -> None:
        """Handle a store of a word after the SRAM. Raises MachineError if the address is not decoded."""

    @abstractmethod
    def _read_word(self, offset: int) -> int:
        """Return a word after the SRAM. Raises MachineError if the address is not decoded."""

    def _nothing(self, what: str, offset: int) -> MachineError:
        return MachineError(f"node {self._node}: no word to {what} at offset {offset:#08x} of the NIC's region")
