"""SSAM on the machine: hosts with FIFO cards, a process of one program on each."""

from __future__ import annotations

from collections.abc import Awaitable, Iterable
from typing import Any

from firmware.host.ssam import Call, Handler, Port, Ssam
from firmware.layers import ClusterView, host_library
from pymodels.machine import Machine


class Bench:
    """Started hosts. What comes is kept by node: (kind, source, arguments, data)."""

    def __init__(self, nodes: int = 2, **options: Any) -> None:
        """Keywords are options of SSAM."""
        self.machine = Machine(nodes, nic="fifo")
        self.ssams: list[Ssam] = [
            host_library("ssam")(host, ClusterView(**self.machine.view(vnn, **options)))
            for vnn, host in enumerate(self.machine.hosts)
        ]
        self.run(*(ssam.start() for ssam in self.ssams))
        self.came: list[list[tuple[str, int, tuple[int, ...], bytes]]] = [[] for _ in range(nodes)]
        self.handlers = [[self._keeps(node), self._answers(node), self._echoes(node)] for node in range(nodes)]
        self.ports: list[Port] = self.run(*(self.open(node) for node in range(nodes)))

    def open(self, node: int, key: int = 1, handlers: Iterable[Handler] | None = None) -> Awaitable[Port]:
        """A further process of a host, or another program's."""
        return self.ssams[node].open(self.handlers[node] if handlers is None else handlers, key)

    def keep(self, node: int) -> Handler:
        """The handler that keeps what comes."""
        return self.handlers[node][0]

    def answer(self, node: int) -> Handler:
        """The one that keeps it and answers with twice the arguments and the data backwards."""
        return self.handlers[node][1]

    def _note(self, node: int, call: Call) -> None:
        self.came[node].append((call.kind.name, call.source, call.arguments, call.data))

    def _keeps(self, node: int) -> Handler:
        async def keep(call: Call) -> None:
            self._note(node, call)

        return keep

    def _answers(self, node: int) -> Handler:
        async def answer(call: Call) -> None:
            self._note(node, call)
            twice = tuple(2 * one & 0xFFFFFFFF for one in call.arguments)
            await call.reply(self.keep(node), *twice, data=call.data[::-1])

        return answer

    def _echoes(self, node: int) -> Handler:
        async def request(call: Call) -> None:
            await self.ports[node].request(call.source, self.keep(node))

        return request

    def run(self, *calls: Awaitable[Any], within_us: float = 1e6) -> list[Any]:
        """Do all of it at the same time."""
        return self.machine.finish(*(_of(call) for call in calls), within_us=within_us)

    async def until(self, node: int, count: int) -> None:
        """Until so many messages have come to a node."""
        await self.ports[node].until(lambda: len(self.came[node]) >= count, f"{count} messages")


async def _of(call: Awaitable[Any]) -> Any:
    return await call
