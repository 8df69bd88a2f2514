"""Tasks, time and trace: what every processor of the machine offers its software, NIC and host alike."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any

from pymodels.kernel import Event, Future, Task, Why
from pymodels.machine.spin import CpuTime
from pymodels.machine.world import World
from pymodels.waiting import Waits


class Actor:
    """A processor: its node (VNN), its share of simulated time, and its traced unit."""

    side = ""

    def __init__(self, world: World, node: int, unit: int, who: str) -> None:
        self.node = node
        self.who = who
        """The unit in reports of waiting."""
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
        """What software declares of its waiting."""
        return self._kernel.waits

    def spawn(self, coroutine: Coroutine[Any, Any, Any], name: str) -> Task:
        """Start a task; its `finished` can be awaited for the return value."""
        return self._kernel.spawn(coroutine, f"{self.who}: {name}")

    def event(self, why: Why) -> Event:
        """A new condition between tasks."""
        return Event(self._kernel, why)

    def sleep(self, duration_ps: int, why: Why = "time") -> Future[None]:
        """Let time pass without using the processor."""
        return self._kernel.sleep(duration_ps, why)

    def trace(self, event: int, packet: int = 0, argument: int = 0, argument2: int = 0) -> None:
        """Append a record of this processor to the trace."""
        if self._log.enabled:
            self._log.add(self._unit, event, packet, argument, argument2)

    def cost(self, path: str) -> tuple[int, int]:
        """(picoseconds of one pass, number in the trace) of a path."""
        known = self._costs.get(path)
        if known is None:
            known = self._costs[path] = (self._cost_of(self.side, path), self._log.path(f"{self.side}:{path}"))
        return known
