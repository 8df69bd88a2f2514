"""The LANai 4 of the machine: some of the registers and bits that firmware names, and one host DMA of whole words."""

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
    """Registers by the names that firmware uses, of which this chip has some."""

    def connect_words(self, dma: WordDma) -> None:
        """Give the DMA its registers."""
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
        """The host writes the chip's own bits and limits."""
        super().write_from_host(register, shown(place(register), value))

    def change(self, set_bits: int, clear_bits: int) -> None:
        """Bits that the chip does not have stay 0."""
        super().change(bits_there(bits_here(set_bits)), clear_bits)


class ChipRegisters:
    """The same at the places that the chip has, with its bits and limits. MachineError where firmware names none."""

    def __init__(self, special: SpecialRegisters4) -> None:
        self._special = special

    def read(self, register: int) -> int:
        """The value now."""
        return written(Reg4(register), self._special.read(_named(register)))

    def write(self, register: int, value: int) -> None:
        """A write, in force at once."""
        self._special.write(_named(register), shown(Reg4(register), value))


class ModelNic4(ModelNic):
    """A LANai with neither chains nor doorbells."""

    kind = "lanai4"
    word_bytes = WORD
    registers = SpecialRegisters4

    def __init__(self, world: World, node: int, sram_bytes: int, network: ModelNetwork) -> None:
        super().__init__(world, node, sram_bytes, network)
        self.words = WordDma(world, node, self.sram, self.special.change)
        """The one host DMA."""
        assert isinstance(self.special, SpecialRegisters4)
        self.special.connect_words(self.words)
        self._chip = ChipRegisters(self.special)
        self.transfers = {**self.transfers, "word DMA": self.words}

    @property
    def chip(self) -> ChipRegisters:
        return self._chip


def _named(offset: int) -> int:
    """The register that firmware names for an offset of the chip. Raises MachineError when it names none."""
    if (name := name_at(offset)) is None:
        raise MachineError(f"the LANai 4 of the machine has nothing at offset {offset:#x}")
    return name


def _check(register: int) -> None:
    """Raises MachineError for a register that the chip does not have."""
    try:
        place(register)
    except ValueError as error:
        raise MachineError(str(error)) from None


NIC = ModelNic4
