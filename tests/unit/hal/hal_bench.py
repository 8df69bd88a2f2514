"""Bench for HAL on the pure-Python machine: a board of SP chips with several routes a pair, a library on each host."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any

from firmware.hal.host import HostHal
from firmware.hal.host.interface import Packet
from firmware.layers import host_library, nic_program
from firmware.view import ClusterView
from pymodels.builders import board
from pymodels.machine import Machine
from pymodels.updown import up_down

PROTOCOL = 3
"""The number that tests take."""


class Bench:
    """Started hosts. Keywords are options of HAL."""

    def __init__(self, *, nodes: int = 2, chips: int = 2, nic: str = "sp", seed: int = 1, **options: Any) -> None:
        """Start HAL. `chips`: node chips of the board, each with a host, and routes of a pair; 0: a single switch."""
        names = tuple(f"host{node}" for node in range(nodes))
        if chips:
            topology = board(names, chips=chips)
            self.machine = Machine(nodes, topology=topology, routes=up_down(topology, most=chips), nic=nic, seed=seed)
        else:
            self.machine = Machine(nodes, names=names, nic=nic, seed=seed)
        self.hals: list[HostHal] = []
        self.came: list[list[tuple[int, bytes]]] = [[] for _ in range(nodes)]
        """Source and bytes of each received packet, by node."""
        for node in range(nodes):
            view = ClusterView(**self.machine.view(node, **options))
            processor = self.machine.processor(node)
            processor.spawn(nic_program("hal")(processor, view), "hal")
            self.hals.append(host_library("hal")(self.machine.host(node), view))
            self.hals[node].on_packet(PROTOCOL, self._keep(node))
        self.run(*(hal.start() for hal in self.hals))

    def _keep(self, node: int) -> Any:
        async def keep(packet: Packet) -> None:
            self.came[node].append((packet.source, bytes(packet.view)))

        return keep

    def run(self, *calls: Awaitable[Any], within_us: float = 1e5) -> list[Any]:
        """Run calls concurrently and return their results."""
        return self.machine.finish(*(_of(call) for call in calls), within_us=within_us)

    async def until(self, node: int, count: int) -> None:
        """Wait until a node has received `count` packets."""
        await self.hals[node].wait(lambda: len(self.came[node]) >= count)

    async def give(self, source: int, target: int, packets: list[bytes]) -> None:
        """Send packets without a header."""
        for data in packets:
            await self.hals[source].send(target, PROTOCOL, b"", data)

    def bodies(self, node: int) -> list[bytes]:
        """Return the packets received by a node."""
        return [data for _, data in self.came[node]]


async def _of(call: Awaitable[Any]) -> Any:
    return await call


def numbered(count: int, size: int = 100) -> list[bytes]:
    """Return distinct packets."""
    return [
        number.to_bytes(4, "big") + bytes((number + at) & 0xFF for at in range(size - 4)) for number in range(count)
    ]
