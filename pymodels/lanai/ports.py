"""Interfaces of a processor to SRAM and special registers, and the error for programs that misuse them."""

from __future__ import annotations

from typing import Protocol

from pymodels.errors import SanlabError
from pymodels.lanai.faults import Fault


class CoreError(SanlabError):
    """Undefined action of a program, or a requested stop. `address` is that of the instruction, `named` the name of the
    error.
    """

    def __init__(self, address: int, where: str, what: str, cause: str, remedy: str, fault: Fault = Fault.NONE) -> None:
        super().__init__(f"{address:#x}{where and f' in {where}'}: {what}", cause, remedy)
        self.address, self.named, self.fault = address, what, fault


class Memory(Protocol):
    """SRAM from address 0 on, big-endian. The core has checked bounds and alignment of accesses."""

    @property
    def size(self) -> int:
        """Size in bytes."""

    def load(self, address: int, size: int) -> int:
        """Return the `size` bytes at an address as an unsigned number."""

    def store(self, address: int, value: int, size: int) -> None:
        """Write the lowest `size` bytes of a value."""


class Registers(Protocol):
    """Special registers, by their offset from the first (`pymodels.registers.Reg`)."""

    def read(self, register: int) -> int:
        """Return the present value of a register."""

    def write(self, register: int, value: int) -> None:
        """Write a register; the value takes effect at once."""


class Sram:
    """Private memory of a processor, initially zero."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.data = bytearray(size)

    def load(self, address: int, size: int) -> int:
        """Return the bytes at an address as an unsigned number."""
        return int.from_bytes(self.data[address : address + size], "big")

    def store(self, address: int, value: int, size: int) -> None:
        """Write the lowest `size` bytes of a value."""
        self.data[address : address + size] = (value & (1 << 8 * size) - 1).to_bytes(size, "big")


class NoRegisters:
    """Special registers of a processor without NIC: reads return 0, writes are ignored."""

    def read(self, register: int) -> int:
        """Return 0."""
        return 0

    def write(self, register: int, value: int) -> None:
        """Ignore a write."""
