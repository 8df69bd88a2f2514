"""PCI 2.2 for models and benches: commands, transactions, configuration space, timing of single accesses.

The timing model counts clocks from the bus protocol and the settings alone. It depends on the RTL only through the
guarantees of hdl/host/README.md.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum, IntEnum
from typing import NamedTuple


class Command(IntEnum):
    """Bus commands on C/BE#[3:0] in the address phase (PCI 2.2, 3.1.1)."""

    INTERRUPT_ACKNOWLEDGE = 0x0
    SPECIAL_CYCLE = 0x1
    IO_READ = 0x2
    IO_WRITE = 0x3
    MEMORY_READ = 0x6
    MEMORY_WRITE = 0x7
    CONFIGURATION_READ = 0xA
    CONFIGURATION_WRITE = 0xB
    MEMORY_READ_MULTIPLE = 0xC
    DUAL_ADDRESS_CYCLE = 0xD
    MEMORY_READ_LINE = 0xE
    MEMORY_WRITE_AND_INVALIDATE = 0xF

    @property
    def writes(self) -> bool:
        """True if data move from the master to the target."""
        return bool(self & 1)


class Termination(Enum):
    """Termination of a transaction."""

    COMPLETION = "completion"
    RETRY = "retry"
    DISCONNECT = "disconnect"
    MASTER_ABORT = "master abort"
    TARGET_ABORT = "target abort"


class Phase(NamedTuple):
    """Data phase that moved data."""

    address: int
    """Byte address of lane 0 (4- or 8-byte aligned)."""
    data: int
    enables: int
    """Byte enables by lane, 1 = byte moved; 4 or 8 bits."""


@dataclass(frozen=True)
class Transaction:
    """Transaction as decoded by a monitor. Comparisons ignore clock numbers."""

    command: Command
    address: int
    wide: bool
    """True for 64-bit transfers: REQ64# answered by ACK64#."""
    master: int
    """Number of the agent that had the grant."""
    phases: tuple[Phase, ...]
    end: Termination
    start: int = field(default=0, compare=False)
    """Clock of the address phase, as counted by the monitor."""
    clocks: int = field(default=0, compare=False)
    """Number of clocks from the address phase to the last data phase, inclusive."""

    @property
    def last(self) -> int:
        """Clock of the last data phase, as counted by the monitor."""
        return self.start + self.clocks - 1

    @property
    def wait_clocks(self) -> int:
        """Number of clocks after the address phase in which no data moved."""
        return self.clocks - 1 - len(self.phases)

    def bytes_moved(self) -> list[tuple[int, int]]:
        """Return the enabled bytes as (address, value), in bus order."""
        return [
            (phase.address + lane, phase.data >> 8 * lane & 0xFF)
            for phase in self.phases
            for lane in range(8 if self.wide else 4)
            if phase.enables >> lane & 1
        ]


class ConfigRegister(IntEnum):
    """Type-0 configuration space: byte offsets of the dwords in hdl/host/myri_pci_config.sv."""

    IDENTITY = 0x00
    COMMAND = 0x04
    CLASS = 0x08
    TIMERS = 0x0C
    BAR0 = 0x10
    INTERRUPT = 0x3C


COMMAND_MEMORY = 1 << 1
"""Bit of the command register that enables responses to memory accesses."""
COMMAND_MASTER = 1 << 2
"""Bit of the command register that enables bus mastering."""

MYRICOM_VENDOR = 0x14C1
MYRICOM_DEVICE = 0x8043
"""Device number (fact sheet 3.7)."""


def type_1_address(bus: int, device: int, register: int, function: int = 0) -> int:
    """Return the address of a type-1 configuration cycle, for a bridge to the bus `bus`: AD[1:0] is 01 (3.2.2.3)."""
    return bus << 16 | device << 11 | function << 8 | register & 0xFC | 1


def idsel_address(slot: int, register: int) -> int:
    """Return the address of a type-0 configuration cycle to a slot: one-hot IDSEL on AD[16+slot], register in
    AD[7:2].
    """
    return 1 << 16 + slot | register


@dataclass(frozen=True)
class TargetTiming:
    """Wait-state settings of a target (ports cfg_* of myri_pci_target)."""

    devsel: int = 1
    """DEVSEL# speed: 1 = medium, 2 = slow."""
    initial: int = 0
    """Wait states of the first data phase after DEVSEL#."""
    subsequent: int = 0
    """Wait states of each later data phase."""


def transaction_clocks(target: TargetTiming, phases: int = 1, data_delay: int = 0) -> int:
    """Return the clocks from FRAME# to the last data phase, inclusive.

    Args:
        target: Wait states of the target.
        phases: Number of data phases.
        data_delay: For reads, clocks after DEVSEL# until the first data are available, if longer than the wait states.
    """
    address, decode = 1, target.devsel
    first = 1 + max(target.initial, data_delay)
    return address + decode + first + (phases - 1) * (1 + target.subsequent)


def write_clocks_per_word(target: TargetTiming, post_depth: int, start_delay: int = 0) -> int:
    """Return the clocks per word of a long stream of uncached single-word stores on a parked bus.

    With one outstanding store, each waits for the previous one: a clock to hand over, the transaction, and a clock
    until the bridge has detected its end. With more, one idle clock remains between transactions.
    """
    busy = transaction_clocks(target) + start_delay
    return busy + (2 if post_depth == 1 else 1)


def read_clocks(target: TargetTiming, data_delay: int, start_delay: int = 0, read_return: int = 0) -> int:
    """Return the clocks of a CPU read on an idle, parked bus, from its acceptance to the data.

    Args:
        target: Wait states of the target.
        data_delay: Clocks after DEVSEL# until the target's backend has the data (and its answer is visible).
        start_delay: Clocks before the bridge requests the bus.
        read_return: Clocks of the bridge from bus to CPU.
    """
    return 1 + start_delay + transaction_clocks(target, data_delay=data_delay) + 1 + read_return
