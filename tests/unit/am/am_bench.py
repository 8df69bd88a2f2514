"""Bench for AM on the pure-Python machine: LANai NICs, and a program with the same handlers on each host."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from firmware.am.host import Am, Call, Port
from firmware.layers import nic_program
from firmware.view import ClusterView
from pymodels.machine import Machine

Came = tuple[int, int, tuple[int, ...], bytes]
"""Kind, source, arguments and payload of a received message."""


class Bench:
    """Machine with AM started on every host. Received messages are recorded by node."""

    def __init__(
        self, nodes: int = 2, nic: str = "lanai9", own: Callable[[], list[Any]] = list, **options: Any
    ) -> None:
        """Start AM. `own` returns additional handlers of each node; further keywords are layer options."""
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
        """Record a message."""
        self.came[call.port.me].append((call.kind, call.source, call.arguments, call.data))

    async def answer(self, call: Call) -> None:
        """Record a request, and reply with its arguments doubled and its payload reversed."""
        await self.keep(call)
        await call.reply(self.keep, *(2 * one & 0xFFFFFFFF for one in call.arguments), data=call.data[::-1])

    async def until(self, node: int, count: int) -> None:
        """Wait until a node has received `count` messages and all of its requests are answered."""
        port = self.ports[node]
        await port.until(lambda: len(self.came[node]) >= count and not port.unanswered, f"{count} messages")

    def run(self, *calls: Awaitable[Any], within_us: float = 1e6) -> list[Any]:
        """Run calls concurrently and return their results."""
        return self.machine.finish(*(_of(call) for call in calls), within_us=within_us)


async def _of(call: Awaitable[Any]) -> Any:
    return await call
