"""EPOS on the machine: LANais with one composition, and the library of each host."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from typing import Any

from firmware.epos.host import Epos, Message
from firmware.layers import nic_program
from firmware.view import ClusterView
from pymodels.machine import Machine


class Bench:
    """Hosts with started libraries."""

    program = staticmethod(nic_program("epos"))
    library: type[Epos] = Epos

    def __init__(self, nodes: int = 2, nic: str = "lanai9", **options: Any) -> None:
        """Keywords are options of the layer; `trace=False` keeps no trace."""
        self.machine = Machine(nodes, nic=nic)
        self.hosts: list[Epos] = []
        for node, host in enumerate(self.machine.hosts):
            view = ClusterView(**self.machine.view(node, **options))
            self.machine.nic(node).spawn(self.program(self.machine.nic(node), view), "epos")
            self.hosts.append(self.library(host, view))
        self.run(*(host.start() for host in self.hosts))

    def run(self, *calls: Awaitable[Any], within_us: float = 1e6) -> list[Any]:
        """Run calls at the same time, and return their results."""
        return self.machine.finish(*(_of(call) for call in calls), within_us=within_us)

    def word(self, node: int, address: int) -> int:
        """Return a word of a NIC's memory."""
        return self.machine.nic(node).load(address)

    async def give(self, node: int, to: int, messages: Sequence[bytes]) -> None:
        """Send messages."""
        for data in messages:
            await self.hosts[node].send(to, data)

    async def take(self, node: int, count: int) -> list[Message]:
        """Receive `count` messages."""
        return [await self.hosts[node].receive() for _ in range(count)]


async def _of(call: Awaitable[Any]) -> Any:
    return await call
