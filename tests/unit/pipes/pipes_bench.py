"""Bench for Pipes on the pure-Python machine: HAL on a board of SP chips with two routes a pair."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from types import MappingProxyType
from typing import Any

from firmware.pipes.host import Pipes
from firmware.view import ClusterView
from tests.unit.hal.hal_bench import Bench

NOTHING: Mapping[str, Any] = MappingProxyType({})


class Pair:
    """Started hosts. Keywords are options of Pipes."""

    def __init__(
        self, *, nodes: int = 2, chips: int = 2, hal: Mapping[str, Any] = NOTHING, begin: int = 0, **options: Any
    ) -> None:
        """Start Pipes; `hal` holds options of HAL, `begin` is the position of the first byte of all streams."""
        self.bench = Bench(nodes=nodes, chips=chips, **hal)
        self.machine = self.bench.machine
        self.pipes = [
            Pipes(hal.host, ClusterView(**self.machine.view(node, **options)), hal, begin)
            for node, hal in enumerate(self.bench.hals)
        ]
        self.run(*(one.start() for one in self.pipes))

    def run(self, *calls: Awaitable[Any], within_us: float = 1e6) -> list[Any]:
        """Run calls concurrently and return their results."""
        return self.bench.run(*calls, within_us=within_us)

    async def write(self, source: int, target: int, data: bytes, size: int, direct: bool = False) -> None:
        """Write in parts of a size, and wait until all bytes have arrived."""
        pipe = self.pipes[source]
        for at in range(0, len(data), size):
            await pipe.write(target, data[at : at + size], direct)
        await pipe.flush()

    async def read(self, target: int, source: int, size: int, part: int = 5000) -> bytes:
        """Read bytes in parts, and serve the other end until it has everything acknowledged."""
        pipe, data = self.pipes[target], bytearray()
        while len(data) < size:
            data += await pipe.read(source, min(part, size - len(data)))
        await pipe.finish()
        return bytes(data)


def pattern(size: int, salt: int = 0) -> bytes:
    """Return bytes with a long period."""
    return bytes((7 * at + (at >> 8) * 13 + (at >> 16) + salt) & 0xFF for at in range(size))
