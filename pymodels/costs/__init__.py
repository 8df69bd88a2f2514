"""Instruction costs of firmware and host code: compiled, counted, and found by the name of a path."""

from pymodels.costs.assembly import CostError
from pymodels.costs.table import PathTable
from pymodels.costs.walk import PathCost

__all__ = [
    "CostError",
    "PathCost",
    "PathTable",
]
