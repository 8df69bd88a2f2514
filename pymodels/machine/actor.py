"""Base class of all processors of the machine: tasks, time and trace."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any

from pymodels.kernel import Event, Future, Task, Why
from pymodels.machine.spin import CpuTime
from pymodels.machine.world import World
from pymodels.waiting import Waits


class Actor:
    """Processor of a NIC or host, with its node (VNN), CPU time and trace unit."""

    side = ""

    def __init__(self, world: World, node: int, unit: int, who: str) -> None:
        self.node = node
        self.who = who
        """Name of the unit in reports of waits."""
        self.cpu = CpuTime(world.kernel)
        self._kernel = world.kernel
        self._unit = unit
        self._log = world.log
        self._cost_of = world.cost
        self._spin = world.spin
        self._costs: dict[str, tuple[int, int]] = {}

    @property
    def now(self) -> int:
        """Simulated time in picoseconds."""
        return self._kernel.now

    @property
    def waits(self) -> Waits:
        """Waits declared by software."""
        return self._kernel.waits

    def spawn(self, coroutine: Coroutine[Any, Any, Any], name: str) -> Task:
        """Start a task; its `finished` can be awaited for the return value."""
        return self._kernel.spawn(coroutine, f"{self.who}: {name}")

    def event(self, why: Why) -> Event:
        """Return a new event for tasks."""
        return Event(self._kernel, why)

    def sleep(self, duration_ps: int, why: Why = "time") -> Future[None]:
        """Return a future that is set after a duration; the processor is not used meanwhile."""
        return self._kernel.sleep(duration_ps, why)

    def trace(self, event: int, packet: int = 0, argument: int = 0, argument2: int = 0, *, message: int = 0) -> None:
        """Append a record of this processor to the trace."""
        if self._log.enabled:
            self._log.add(self._unit, event, packet, argument, argument2, message)

    def cost(self, path: str) -> tuple[int, int]:
        """Return the duration of a path in picoseconds, and its number in the trace."""
        known = self._costs.get(path)
        if known is None:
            known = self._costs[path] = (self._cost_of(self.side, path), self._log.path(f"{self.side}:{path}"))
        return known
