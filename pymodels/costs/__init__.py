"""Instruction costs of firmware and host code: compiled, counted, and looked up by the name of a path."""

from pymodels.costs.assembly import CostError
from pymodels.costs.table import (
    Charge,
    HostProcessor,
    NicProcessor,
    PathTable,
    bus_access,
    bus_beat,
    host_clocks,
    nic_charge,
)
from pymodels.costs.walk import PathCost

__all__ = [
    "Charge",
    "CostError",
    "HostProcessor",
    "NicProcessor",
    "PathCost",
    "PathTable",
    "bus_access",
    "bus_beat",
    "host_clocks",
    "nic_charge",
]
