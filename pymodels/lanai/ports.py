"""What a processor is connected to: SRAM and special registers; and the errors of programs that misuse them."""

from __future__ import annotations

from typing import Protocol

from pymodels.errors import SanlabError
from pymodels.lanai.faults import Fault


class CoreError(SanlabError):
    """A program did what the processor does not define, or was asked to stop. `address` is that of the instruction,
    `named` what it is called.
    """

    def __init__(self, address: int, where: str, what: str, cause: str, remedy: str, fault: Fault = Fault.NONE) -> None:
        super().__init__(f"{address:#x}{where and f' in {where}'}: {what}", cause, remedy)
        self.address, self.named, self.fault = address, what, fault


class Memory(Protocol):
    """SRAM: bytes from address 0 on, big-endian. The core has looked at bounds and alignment."""

    @property
    def size(self) -> int:
        """Its bytes."""

    def load(self, address: int, size: int) -> int:
        """The `size` bytes at an address, unsigned."""

    def store(self, address: int, value: int, size: int) -> None:
        """Write the lowest `size` bytes of a value."""


class Registers(Protocol):
    """The special registers, by their offset from the first (`pymodels.registers.Reg`)."""

    def read(self, register: int) -> int:
        """The value now."""

    def write(self, register: int, value: int) -> None:
        """A write, in force at once."""


class Sram:
    """Memory that nobody else looks at, all zeros."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.data = bytearray(size)

    def load(self, address: int, size: int) -> int:
        """The bytes at an address."""
        return int.from_bytes(self.data[address : address + size], "big")

    def store(self, address: int, value: int, size: int) -> None:
        """Write bytes."""
        self.data[address : address + size] = (value & (1 << 8 * size) - 1).to_bytes(size, "big")


class NoRegisters:
    """A processor alone: reading a register gives 0, writing one does nothing."""

    def read(self, register: int) -> int:
        """Nothing is there."""
        return 0

    def write(self, register: int, value: int) -> None:
        """Ignored."""
