"""Type-0 configuration space of a PCI target: registers with write masks, base address and status."""

from __future__ import annotations

from pymodels.errors import SanlabError
from pymodels.pci.pci import COMMAND_MEMORY, ConfigRegister

COMMAND_IO = 1 << 0
"""Bit of the command register that enables responses to I/O accesses."""
COMMAND_PARITY = 1 << 6
"""Bit of the command register that enables PERR#."""
COMMAND_SERR = 1 << 8
"""Bit of the command register that enables SERR#, together with COMMAND_PARITY."""
STATUS_FAST_BACK_TO_BACK = 1 << 7
STATUS_MASTER_PARITY = 1 << 8
STATUS_TARGET_ABORT = 1 << 11
"""Bit of the status register: this target ended a transaction with a target abort."""
STATUS_SYSTEM_ERROR = 1 << 14
"""Bit of the status register: this device asserted SERR#."""
STATUS_PARITY = 1 << 15
"""Bit of the status register: this device found wrong parity."""
STATUS_CLEARED = 0xF900
"""Status bits that a write of 1 clears."""
SIZE = 256


class ConfigSpace:
    """Configuration space of 256 bytes with one memory window, base address register 0.

    Args:
        vendor: Vendor number, 16 bits.
        device: Device number, 16 bits.
        window: Bytes of the memory window, a power of two of at least 16; 0 for none.
        class_code: Class code, 24 bits.
        revision: Revision, 8 bits.

    Raises:
        SanlabError: `window` is not a power of two from 16 to 2**31.
    """

    def __init__(
        self, vendor: int, device: int, window: int = 0, class_code: int = 0x028000, revision: int = 0
    ) -> None:
        if window and (window & (window - 1) or not 16 <= window <= 1 << 31):
            raise SanlabError("PCI window", f"{window} bytes", "use a power of two from 16 to 2**31")
        self.window = window
        self._bytes = bytearray(SIZE)
        self._masks = bytearray(SIZE)
        self.set(ConfigRegister.IDENTITY, device << 16 | vendor)
        self.set(ConfigRegister.COMMAND, STATUS_FAST_BACK_TO_BACK << 16, 0x0147)
        self.set(ConfigRegister.CLASS, class_code << 8 | revision)
        self.set(ConfigRegister.TIMERS, 0, 0xFFFF)
        self.set(ConfigRegister.BAR0, 0, -window & 0xFFFF_FFFF if window else 0)
        self.set(ConfigRegister.INTERRUPT, 0x100, 0xFF)

    def set(self, register: int, value: int, mask: int = 0) -> None:
        """Set a dword and the bits of it that the bus may write."""
        self._bytes[register : register + 4] = value.to_bytes(4, "little")
        self._masks[register : register + 4] = mask.to_bytes(4, "little")

    def dword(self, register: int) -> int:
        """Return a dword."""
        return int.from_bytes(self._bytes[register : register + 4], "little")

    @property
    def command(self) -> int:
        """Command register."""
        return self.dword(ConfigRegister.COMMAND) & 0xFFFF

    @property
    def status(self) -> int:
        """Status register."""
        return self.dword(ConfigRegister.COMMAND) >> 16

    @property
    def latency_timer(self) -> int:
        """Latency timer, in clocks."""
        return self.dword(ConfigRegister.TIMERS) >> 8 & 0xFF

    @property
    def base(self) -> int | None:
        """Base address of the memory window, or None while it is disabled."""
        enabled = self.window and self.command & COMMAND_MEMORY
        return self.dword(ConfigRegister.BAR0) & -self.window if enabled else None

    def report(self, status: int) -> None:
        """Set bits of the status register."""
        value = self.dword(ConfigRegister.COMMAND) | status << 16
        self._bytes[4:8] = value.to_bytes(4, "little")

    def write(self, register: int, value: int, enables: int) -> None:
        """Write the enabled bytes of a dword: masked bits take the value, status bits are cleared by 1."""
        for lane in range(4):
            if not enables >> lane & 1:
                continue
            at, byte = register + lane, value >> 8 * lane & 0xFF
            mask = self._masks[at]
            kept = self._bytes[at] & ~mask | byte & mask
            cleared = STATUS_CLEARED >> 8 * (at - 6) & 0xFF if at in {6, 7} else 0
            self._bytes[at] = kept & ~(byte & cleared)
