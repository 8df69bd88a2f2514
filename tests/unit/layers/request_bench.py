"""SSAM and HPAM on the machine: hosts with FIFO cards, and a process of one program on each, with the same calls."""

from __future__ import annotations

from collections.abc import Awaitable, Iterable, Sequence
from typing import Any

from firmware.layers import host_library
from firmware.view import ClusterView
from pymodels.machine import Machine

Request = tuple[int, tuple[int, ...], bytes]
"""Destination, arguments, data."""


class Bench:
    """Started hosts. Received messages are kept by node: (kind, source, arguments, data)."""

    def __init__(self, layer: str, nodes: int = 2, *, seed: int = 1, **options: Any) -> None:
        """Start hosts; further keywords are options of the layer."""
        self.machine = Machine(nodes, nic="fifo", seed=seed)
        self.layers: list[Any] = [
            host_library(layer)(host, ClusterView(**self.machine.view(vnn, **options)))
            for vnn, host in enumerate(self.machine.hosts)
        ]
        self.run(*(one.start() for one in self.layers))
        self.came: list[list[tuple[str, int, tuple[int, ...], bytes]]] = [[] for _ in range(nodes)]
        self.handlers = [[self._keeps(node), self._answers(node), self._echoes(node)] for node in range(nodes)]
        self.ports: list[Any] = self.run(*(self.open(node) for node in range(nodes)))

    def open(self, node: int, key: int = 1, handlers: Iterable[Any] | None = None) -> Any:
        """Open a port for another process of a host, possibly of another program."""
        return self.layers[node].open(self.handlers[node] if handlers is None else handlers, key)

    def keep(self, node: int) -> Any:
        """Return the handler that keeps messages."""
        return self.handlers[node][0]

    def answer(self, node: int) -> Any:
        """Return the handler that keeps a message and replies with twice the arguments and the reversed data."""
        return self.handlers[node][1]

    def _note(self, node: int, call: Any) -> None:
        self.came[node].append((call.kind.name, call.source, call.arguments, call.data))

    def _keeps(self, node: int) -> Any:
        async def keep(call: Any) -> None:
            self._note(node, call)

        return keep

    def _answers(self, node: int) -> Any:
        async def answer(call: Any) -> None:
            self._note(node, call)
            twice = tuple(2 * one & 0xFFFFFFFF for one in call.arguments)
            await call.reply(self.keep(node), *twice, data=call.data[::-1])

        return answer

    def _echoes(self, node: int) -> Any:
        async def request(call: Any) -> None:
            await self.ports[node].request(call.source, self.keep(node))

        return request

    def run(self, *calls: Awaitable[Any], within_us: float = 1e6) -> list[Any]:
        """Run calls concurrently."""
        return self.machine.finish(*(_of(call) for call in calls), within_us=within_us)

    async def give(self, node: int, requests: Sequence[Request], answered: bool) -> None:
        """Send requests from a node."""
        handler = self.answer if answered else self.keep
        for destination, arguments, data in requests:
            await self.ports[node].request(destination, handler(node), *arguments, data=data)

    async def until(self, node: int, count: int) -> None:
        """Poll until a node has received `count` messages."""
        await self.ports[node].until(lambda: len(self.came[node]) >= count, f"{count} messages")


async def _of(call: Awaitable[Any]) -> Any:
    return await call
