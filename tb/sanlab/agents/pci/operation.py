"""Transfer of any length that a master performs in one or more transactions."""

from __future__ import annotations

from cocotb.triggers import Event

from pymodels.pci.pci import Command

from .errors import TransferError

DWORD_COMMANDS = {
    Command.IO_READ,
    Command.IO_WRITE,
    Command.CONFIGURATION_READ,
    Command.CONFIGURATION_WRITE,
    Command.INTERRUPT_ACKNOWLEDGE,
    Command.SPECIAL_CYCLE,
}
"""Commands that transfer at most one dword in a transaction."""


class Operation:
    """Transfer of bytes, and its progress.

    Args:
        command: Bus command.
        address: Byte address of the first byte.
        data: Bytes to write, or as many bytes as are to be read.
        wide: True to request 64-bit transfers.
        bus_address: Address on AD, if it is not the aligned byte address.
    """

    def __init__(self, command: Command, address: int, data: bytes, wide: bool, bus_address: int | None = None) -> None:
        self.command, self.address, self.data = command, address, bytearray(data)
        self.wide = wide and command not in DWORD_COMMANDS
        self.bus_address = bus_address
        self.moved = 0
        self.retries = 0
        self.parity_error = False
        self.error: type[TransferError] | None = None
        self.done = Event()

    @property
    def writes(self) -> bool:
        """True if data move from the master to the target."""
        return self.command.writes

    @property
    def complete(self) -> bool:
        """True if all bytes have been moved."""
        return self.moved == len(self.data)

    @property
    def start(self) -> int:
        """Address of the first byte that has not been moved."""
        return self.address + self.moved

    @property
    def end(self) -> int:
        """Address after the last byte."""
        return self.address + len(self.data)

    def on_bus(self, size: int) -> int:
        """Return the address of the next transaction on AD, for data phases of `size` bytes."""
        if self.bus_address is not None:
            return self.bus_address
        io = self.command in {Command.IO_READ, Command.IO_WRITE}
        return self.start if io else self.start & -size

    def lanes(self, base: int, size: int) -> tuple[int, int]:
        """Return the data and the active-low byte enables of the lanes from address `base`."""
        value, enables = 0, 0
        for lane in range(size):
            at = base + lane - self.address
            if self.moved <= at < len(self.data):
                value |= self.data[at] << 8 * lane
                enables |= 1 << lane
        return value, ~enables & (1 << size) - 1

    def take(self, base: int, size: int, value: int) -> None:
        """Note that the data phase at address `base` has moved its lanes."""
        stop = min(base + size, self.end) - self.address
        if not self.writes:
            for at in range(self.moved, stop):
                self.data[at] = value >> 8 * (self.address + at - base) & 0xFF
        self.moved = max(self.moved, stop)

    def raise_error(self) -> None:
        """Raise the error of the finished transfer, if any."""
        if self.error is not None:
            raise self.error(self.command, self.address, self.moved)
