"""Bench for UDP on the pure-Python machine: a process with memory and a socket on each host."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from typing import Any

from firmware.layers import host_library, nic_program
from firmware.udp.host import Received, Socket, Udp
from firmware.view import ClusterView
from pymodels.host import Process
from pymodels.machine import Machine

PORT = 2049
"""Port of every host's socket."""
ROOM = 1 << 17
"""Bytes of a process's memory."""


class Bench:
    """Started hosts. Keywords are options of UDP."""

    def __init__(self, nodes: int = 2, *, nic: str = "lanai9", seed: int = 1, **options: Any) -> None:
        self.machine = Machine(nodes, nic=nic, seed=seed)
        self.udps: list[Udp] = []
        for node in range(nodes):
            view = ClusterView(**self.machine.view(node, **options))
            processor = self.machine.processor(node)
            processor.spawn(nic_program("udp")(processor, view), "udp")
            self.udps.append(host_library("udp")(self.machine.host(node), view))
        self.run(*(udp.start() for udp in self.udps))
        self.processes: list[Process] = [host.process("app") for host in self.machine.hosts]
        self.memory = [process.allocate(ROOM) for process in self.processes]
        self.sockets: list[Socket] = self.run(*(self.open(node) for node in range(nodes)))

    async def open(self, node: int, port: int = PORT) -> Socket:
        """Open a socket and bind its port."""
        socket = await self.udps[node].socket(self.processes[node])
        await socket.bind(port)
        return socket

    def run(self, *calls: Awaitable[Any], within_us: float = 1e6) -> list[Any]:
        """Run calls concurrently and return their results."""
        return self.machine.finish(*(_of(call) for call in calls), within_us=within_us)

    def settle(self, us: float = 2000) -> None:
        """Run until the machine is idle."""
        self.machine.run(self.machine.kernel.now / 1e6 + us)

    async def give(self, source: int, target: int, datagrams: Sequence[bytes]) -> None:
        """Send datagrams."""
        for data in datagrams:
            self.processes[source].store_bytes(self.memory[source], data)
            await self.sockets[source].sendto(self.memory[source], len(data), target, PORT)

    async def get(self, node: int, count: int) -> list[tuple[int, bytes]]:
        """Receive `count` datagrams. Return their sources and bytes."""
        return [await self.one(node) for _ in range(count)]

    async def one(self, node: int) -> tuple[int, bytes]:
        """Receive one datagram into the second half of the memory."""
        got: Received = await self.sockets[node].recvfrom(self.memory[node] + ROOM // 2, ROOM // 2)
        return got.node, self.processes[node].load_bytes(self.memory[node] + ROOM // 2, got.size)


async def _of(call: Awaitable[Any]) -> Any:
    return await call


def patterned(size: int, seed: int = 0) -> bytes:
    """Return bytes that differ by seed."""
    return bytes((7 * at + 31 * seed + (at >> 8)) & 0xFF for at in range(size))
