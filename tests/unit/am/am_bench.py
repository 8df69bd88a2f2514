"""AM on the machine: LANais, and the program of each host with the same handlers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from firmware.am.host import Am, Call, Port
from firmware.layers import nic_program
from firmware.view import ClusterView
from pymodels.machine import Machine

Came = tuple[int, int, tuple[int, ...], bytes]
"""Kind, source, arguments, payload."""


class Bench:
    """Started hosts. What comes is kept by node."""

    def __init__(
        self, nodes: int = 2, nic: str = "lanai9", own: Callable[[], list[Any]] = list, **options: Any
    ) -> None:
        """`own`: further handlers of each node; further keywords are options of the layer."""
        self.machine = Machine(nodes, nic=nic)
        self.layers: list[Am] = []
        for node, host in enumerate(self.machine.hosts):
            view = ClusterView(**self.machine.view(node, **options))
            self.machine.nic(node).spawn(nic_program("am")(self.machine.nic(node), view), "am")
            self.layers.append(Am(host, view))
        self.run(*(layer.start() for layer in self.layers))
        self.came: list[list[Came]] = [[] for _ in range(nodes)]
        self.ports: list[Port] = [layer.open([self.keep, self.answer, *own()]) for layer in self.layers]

    async def keep(self, call: Call) -> None:
        """Keep what comes."""
        self.came[call.port.me].append((call.kind, call.source, call.arguments, call.data))

    async def answer(self, call: Call) -> None:
        """Keep it, and answer with twice the arguments and the payload backwards."""
        await self.keep(call)
        await call.reply(self.keep, *(2 * one & 0xFFFFFFFF for one in call.arguments), data=call.data[::-1])

    async def until(self, node: int, count: int) -> None:
        """Until so many messages have come to a node, and all of its own are answered."""
        port = self.ports[node]
        await port.until(lambda: len(self.came[node]) >= count and not port.unanswered, f"{count} messages")

    def run(self, *calls: Awaitable[Any], within_us: float = 1e6) -> list[Any]:
        """Do all of it at the same time."""
        return self.machine.finish(*(_of(call) for call in calls), within_us=within_us)


async def _of(call: Awaitable[Any]) -> Any:
    return await call
