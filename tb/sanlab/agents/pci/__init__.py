"""PCI agents: `PciBus`, `PciMaster`, `PciTarget`, `PciArbiter`, `PciMonitor`; see README.md in the folder above."""

from pathlib import Path

from pymodels.pci.pci import Command, Termination, Transaction
from pymodels.pci.rules import ProtocolError

from .arbiter import PciArbiter
from .bus import PciBus
from .config_space import ConfigSpace
from .errors import (
    BusResetError,
    MasterAbortError,
    ParityError,
    PciError,
    RetryLimitError,
    TargetAbortError,
    TransferError,
)
from .master import PciMaster
from .memory import BufferMemory, Memory
from .monitor import PciMonitor
from .response import Answer
from .target import PciTarget

NETS = Path(__file__).with_name("pci_nets.sv")
"""SystemVerilog source of `pci_nets`, which connects agents to `inout` nets."""

__all__ = [
    "NETS",
    "Answer",
    "BufferMemory",
    "BusResetError",
    "Command",
    "ConfigSpace",
    "MasterAbortError",
    "Memory",
    "ParityError",
    "PciArbiter",
    "PciBus",
    "PciError",
    "PciMaster",
    "PciMonitor",
    "PciTarget",
    "ProtocolError",
    "RetryLimitError",
    "TargetAbortError",
    "Termination",
    "Transaction",
    "TransferError",
]
