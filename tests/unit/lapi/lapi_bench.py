"""Bench for LAPI on the pure-Python machine: HAL on a board of SP chips with two routes a pair, a task on each host."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType
from typing import Any

from firmware.lapi.host import Lapi
from firmware.view import ClusterView
from tests.unit.hal.hal_bench import Bench

NOTHING: Mapping[str, Any] = MappingProxyType({})
ROOM = 65_536
"""Bytes of a task's send memory, and of its receive memory."""
Program = Callable[[Lapi], Awaitable[Any]]


class Tasks:
    """Initialised tasks. Keywords are options of LAPI."""

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
        """Create the tasks.

        Args:
            tasks: number of tasks.
            chips: node chips of the board.
            hal: options of HAL.
            begin: first sequence number of all pairs.
            initialize: True calls Init on all tasks.
            options: options of LAPI.
        """
        self.bench = Bench(nodes=tasks, chips=chips, **hal)
        self.machine = self.bench.machine
        self.lapis = [
            Lapi(hal.host, ClusterView(**self.machine.view(node, **options)), hal, begin)
            for node, hal in enumerate(self.bench.hals)
        ]
        self.run(*(one.Init() for one in self.lapis if initialize))

    def run(self, *calls: Awaitable[Any], within_us: float = 1e6) -> list[Any]:
        """Run calls concurrently and return their results."""
        return self.bench.run(*calls, within_us=within_us)

    def all(self, program: Program, within_us: float = 1e6) -> list[Any]:
        """Run a program on every task. Return the results by task."""
        return self.run(*(program(lapi) for lapi in self.lapis), within_us=within_us)


class Buffers:
    """Memory of each task: send bytes, receive bytes, counters."""

    def __init__(self, tasks: Tasks) -> None:
        self.out = [lapi.process.allocate(ROOM) for lapi in tasks.lapis]
        self.here = [lapi.process.allocate(ROOM) for lapi in tasks.lapis]
        self.counters = [lapi.process.allocate(4096) for lapi in tasks.lapis]

    def counter(self, task: int, number: int) -> int:
        """Return the address of a counter."""
        return self.counters[task] + 4 * number


def pattern(size: int, salt: int = 0) -> bytes:
    """Return bytes with a long period."""
    return bytes((7 * at + (at >> 8) * 13 + (at >> 16) + salt) & 0xFF for at in range(size))
