"""Five of the NAS Parallel Benchmarks over MPI, in class S, verified against the values published by NPB."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType

from firmware.applications.npb.cg import cg
from firmware.applications.npb.ep import ep
from firmware.applications.npb.ft import ft
from firmware.applications.npb.integer_sort import integer_sort
from firmware.applications.npb.mg import mg
from firmware.applications.npb.node import Node, Verified
from firmware.applications.npb.streaming import stream

__all__ = ["KERNELS", "Node", "Verified", "stream"]

STANDS_ON = ("mpi",)

KERNELS: Mapping[str, Callable[[Node], Awaitable[Verified]]] = MappingProxyType(
    {"CG": cg, "EP": ep, "FT": ft, "IS": integer_sort, "MG": mg}
)
"""Program of each rank, by benchmark name."""
