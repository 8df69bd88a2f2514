"""Kinds of NIC on which the firmware of a message layer runs."""

from __future__ import annotations

from functools import cache

from pymodels.costs.assembly import CostError
from pymodels.costs.table import PathTable
from pymodels.hardware.discover import nic_kind, nic_kinds


def is_compiled(layer: str, kind: str) -> bool:
    """Return True if the firmware of a layer is compiled for the processor of a kind of NIC."""
    try:
        PathTable.of_nic(layer, nic_kind(kind).target)
    except CostError:
        return False
    return True


@cache
def kinds_of(layer: str) -> tuple[str, ...]:
    """Return the kinds of NIC on whose processor a layer's firmware runs."""
    return tuple(kind for kind in nic_kinds() if is_compiled(layer, kind))
