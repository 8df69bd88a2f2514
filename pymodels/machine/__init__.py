"""Cluster in pure Python with the registers and memory of the RTL, for tests of firmware without a simulator."""

from pymodels.machine.faults import Fault, FaultKind, Faults
from pymodels.machine.host import ModelBuffer, ModelHost
from pymodels.machine.machine import Machine, View
from pymodels.machine.memory import MachineError
from pymodels.machine.network import ModelNetwork, crc8
from pymodels.machine.nic import ModelNic
from pymodels.machine.timing import CostLookup, Timing, flat_cost

__all__ = [
    "CostLookup",
    "Fault",
    "FaultKind",
    "Faults",
    "Machine",
    "MachineError",
    "ModelBuffer",
    "ModelHost",
    "ModelNetwork",
    "ModelNic",
    "Timing",
    "View",
    "crc8",
    "flat_cost",
]
