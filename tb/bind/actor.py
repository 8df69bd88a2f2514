"""Common base of host and NIC on the RTL: tasks, time, trace, and cost tables of their software."""

from __future__ import annotations

import struct
from collections.abc import Awaitable, Coroutine
from functools import cache
from typing import Any

from firmware.verbs import Signal
from pymodels.costs.table import PathTable
from pymodels.errors import nearest
from pymodels.kernel import Event, Kernel, Task, Why
from pymodels.waiting import Waits
from tb.sim.doorway import Doorway


@cache
def big_endian(count: int) -> struct.Struct:
    """Return the struct of `count` big-endian 32-bit words."""
    return struct.Struct(f">{count}I")


class Actor:
    """Implementation of `firmware.verbs.Concurrency` on the RTL. `who` prefixes task names and messages."""

    _paths: PathNumbers

    def __init__(self, who: str, unit: int, kernel: Kernel, doorway: Doorway) -> None:
        self.unit = unit
        """Unit number of commands, trace records and events."""
        self.wild: list[str] = []
        """Descriptions of hardware accesses beyond the actor's memory."""
        self.who = who
        self._kernel = kernel
        self._doorway = doorway
        self._table: PathTable | None = None
        self.trace = doorway.recorder(unit, kernel)
        """Append a record to the trace: event, packet key, two arguments, number of the message by name."""

    @property
    def table(self) -> PathTable:
        """Compiled path costs of the running message layer. Raises RuntimeError if no layer was started."""
        if self._table is None:
            raise RuntimeError(f"{self.who}: no cost table: no message layer was started")
        return self._table

    def use(self, table: PathTable) -> None:
        """Charge the path costs of a message layer from now on."""
        self._table = table
        self._paths.know(table)

    @property
    def now(self) -> int:
        return self._kernel.now

    @property
    def waits(self) -> Waits:
        return self._kernel.waits

    def spawn(self, coroutine: Coroutine[Any, Any, Any], name: str) -> Task:
        return self._kernel.spawn(coroutine, f"{self.who}: {name}")

    def event(self, why: Why) -> Signal:
        return Event(self._kernel, why)

    def sleep(self, duration_ps: int, why: Why = "time") -> Awaitable[None]:
        return self._kernel.sleep(duration_ps, why)


class PathNumbers:
    """Numbers of the paths of a run: trace records carry numbers, results carry names."""

    def __init__(self) -> None:
        self.names: list[str] = []
        """Names by number, `<layer>/<side>:<path>`."""
        self._numbers: dict[str, int] = {}

    def know(self, table: PathTable) -> None:
        """Assign numbers to all paths of a table in the order of their names, so that numbers do not depend
        on the simulator.
        """
        for path in sorted(table.paths):
            self.number(table.owner(path), path)

    def number(self, table: str, path: str) -> int:
        """Return the number of a path; the first call for a path assigns it."""
        name = f"{table}:{path}"
        if name not in self._numbers:
            self._numbers[name] = len(self.names)
            self.names.append(name)
        return self._numbers[name]

    def known(self, table: str, path: str) -> int:
        """Return the number of a path of a table that is in use. Raises LookupError for any other path."""
        name = f"{table}:{path}"
        if name not in self._numbers:
            raise LookupError(f"path {name}: {nearest(name, self.names)}")
        return self._numbers[name]
