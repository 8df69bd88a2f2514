"""LANai 4 of the machine: a subset of the registers and bits that firmware uses, and one host DMA of whole words."""

from __future__ import annotations

from functools import partial

from pymodels.machine.memory import MachineError
from pymodels.machine.network import ModelNetwork
from pymodels.machine.nic import ModelNic
from pymodels.machine.special import SpecialRegisters
from pymodels.machine.world import World
from pymodels.nics.lanai4.registers import WORD, Ebus, Reg4, bits_here, bits_there, name_at, place, shown, written
from pymodels.nics.lanai4.word_dma import WordDma


class SpecialRegisters4(SpecialRegisters):
    """Registers in the numbering that firmware uses; this chip has a subset."""

    def connect_words(self, dma: WordDma) -> None:
        """Connect the registers of the DMA engine."""
        for name in Ebus:
            self._reads[name] = partial(dma.registers.__getitem__, name)
            self._writes[name] = partial(dma.write, name)

    def read(self, register: int) -> int:
        _check(register)
        return super().read(register)

    def write(self, register: int, value: int) -> None:
        _check(register)
        super().write(register, value)

    def write_from_host(self, register: int, value: int) -> None:
        """Write a register over PCI, in the chip's own bits and limits."""
        super().write_from_host(register, shown(place(register), value))

    def change(self, set_bits: int, clear_bits: int) -> None:
        """Set and clear ISR bits; bits that the chip lacks stay 0."""
        super().change(bits_there(bits_here(set_bits)), clear_bits)


class ChipRegisters:
    """Registers at the chip's own offsets, with its bits and limits. Raises MachineError for other offsets."""

    def __init__(self, special: SpecialRegisters4) -> None:
        self._special = special

    def read(self, register: int) -> int:
        """Return the present value of a register."""
        return written(Reg4(register), self._special.read(_named(register)))

    def write(self, register: int, value: int) -> None:
        """Write a register; the value takes effect at once."""
        self._special.write(_named(register), shown(Reg4(register), value))


class ModelNic4(ModelNic):
    """LANai without chains and doorbells."""

    kind = "lanai4"
    word_bytes = WORD
    registers = SpecialRegisters4

    def __init__(self, world: World, node: int, sram_bytes: int, network: ModelNetwork) -> None:
        super().__init__(world, node, sram_bytes, network)
        self.words = WordDma(world, node, self.sram, self.special.change)
        """Host DMA engine."""
        assert isinstance(self.special, SpecialRegisters4)
        self.special.connect_words(self.words)
        self._chip = ChipRegisters(self.special)
        self.transfers = {**self.transfers, "word DMA": self.words}

    @property
    def chip(self) -> ChipRegisters:
        return self._chip


def _named(offset: int) -> int:
    """Return the register number in firmware for an offset of the chip. Raises MachineError if there is none."""
    if (name := name_at(offset)) is None:
        raise MachineError(f"the LANai 4 of the machine has no register at offset {offset:#x}")
    return name


def _check(register: int) -> None:
    """Raise MachineError for a register that the chip lacks."""
    try:
        place(register)
    except ValueError as error:
        raise MachineError(str(error)) from None


NIC = ModelNic4
