"""LAPI on the machine: HAL on a board of SP chips with two routes a pair, and a task on each host."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType
from typing import Any

from firmware.lapi.host import Lapi
from firmware.view import ClusterView
from tests.unit.hal.hal_bench import Bench

NOTHING: Mapping[str, Any] = MappingProxyType({})
ROOM = 65_536
"""Bytes of a task for what it sends, and of what it receives."""
Program = Callable[[Lapi], Awaitable[Any]]


class Tasks:
    """Tasks that are initialized. Keywords are options of LAPI."""

    def __init__(
        self,
        tasks: int = 2,
        *,
        chips: int = 2,
        hal: Mapping[str, Any] = NOTHING,
        begin: int = 0,
        initialize: bool = True,
        **options: Any,
    ) -> None:
        """`hal`: options of HAL; `begin`: the first sequence of all pairs; `initialize`: all have called Init."""
        self.bench = Bench(nodes=tasks, chips=chips, **hal)
        self.machine = self.bench.machine
        self.lapis = [
            Lapi(hal.host, ClusterView(**self.machine.view(node, **options)), hal, begin)
            for node, hal in enumerate(self.bench.hals)
        ]
        self.run(*(one.Init() for one in self.lapis if initialize))

    def run(self, *calls: Awaitable[Any], within_us: float = 1e6) -> list[Any]:
        """Do all of it at the same time."""
        return self.bench.run(*calls, within_us=within_us)

    def all(self, program: Program, within_us: float = 1e6) -> list[Any]:
        """A program that every task runs; what it returned, by task."""
        return self.run(*(program(lapi) for lapi in self.lapis), within_us=within_us)


class Buffers:
    """Memory of each task: what it sends, what it receives, counters."""

    def __init__(self, tasks: Tasks) -> None:
        self.out = [lapi.process.allocate(ROOM) for lapi in tasks.lapis]
        self.here = [lapi.process.allocate(ROOM) for lapi in tasks.lapis]
        self.counters = [lapi.process.allocate(4096) for lapi in tasks.lapis]

    def counter(self, task: int, number: int) -> int:
        """Address of a counter."""
        return self.counters[task] + 4 * number


def pattern(size: int, salt: int = 0) -> bytes:
    """Bytes that do not repeat soon."""
    return bytes((7 * at + (at >> 8) * 13 + (at >> 16) + salt) & 0xFF for at in range(size))
