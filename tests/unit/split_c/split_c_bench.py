"""Bench for Split-C on the pure-Python machine: AM on LANai NICs, and a node of the program on each host."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from types import MappingProxyType
from typing import Any

from firmware.am.host import Am
from firmware.layers import nic_program
from firmware.split_c.host import SplitC
from firmware.view import ClusterView
from pymodels.machine import Machine

NOTHING: Mapping[str, Any] = MappingProxyType({})


class Bench:
    """Started nodes. Keywords are options of Split-C; `am` holds options of AM."""

    def __init__(self, nodes: int = 2, nic: str = "lanai9", am: Mapping[str, Any] = NOTHING, **options: Any) -> None:
        self.machine = Machine(nodes, nic=nic)
        self.nodes: list[SplitC] = []
        for node, host in enumerate(self.machine.hosts):
            view = ClusterView(**self.machine.view(node, **am))
            self.machine.nic(node).spawn(nic_program("am")(self.machine.nic(node), view), "am")
            own = ClusterView(**self.machine.view(node, **options))
            self.nodes.append(SplitC(host, own, Am(host, view)))
        self.run(*(one.start() for one in self.nodes))

    def run(self, *calls: Awaitable[Any], within_us: float = 1e6) -> list[Any]:
        """Run calls concurrently and return their results."""
        return self.machine.finish(*(_of(call) for call in calls), within_us=within_us)


async def _of(call: Awaitable[Any]) -> Any:
    return await call
