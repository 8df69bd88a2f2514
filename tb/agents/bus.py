"""cocotb-bus base classes for agents: driver and monitor bound to wires by prefix, and a monitor without wires.

cocotb-bus resolves wires one at a time, ignores case, and reports only the first missing wire. `require` reports all
missing wires in one error and compares names exactly.

cocotb-bus is no longer maintained. Its last release, 0.3.0, runs on cocotb 2.1. Only this file and `checker.py` import
it, so that it can be replaced without a change of the agents:

- `Driver`: a queue and a task that passes transactions to `_driver_send`,
- `Monitor`: a task and callbacks for `_recv`, `PassiveMonitor`: the callbacks alone.
"""

from __future__ import annotations

from typing import Any, ClassVar

from cocotb_bus.drivers import BusDriver
from cocotb_bus.monitors import BusMonitor
from cocotb_bus.monitors import Monitor as AnyMonitor

from tb.agents.wires import require


class Driver(BusDriver):  # type: ignore[misc]  # cocotb-bus has no annotations
    """Base class of drivers on the wires `<prefix>_<signal>`; `append` and `send` accept transactions."""

    _signals: ClassVar[list[str]] = []

    def __init__(self, entity: Any, prefix: str, clock: Any) -> None:
        require(entity, prefix, self._signals)
        super().__init__(entity, prefix, clock, case_insensitive=False)


class Monitor(BusMonitor):  # type: ignore[misc]  # cocotb-bus has no annotations
    """Base class of monitors on the wires `<prefix>_<signal>`; subclasses call `_recv` with each transaction."""

    _signals: ClassVar[list[str]] = []

    def __init__(self, entity: Any, prefix: str, clock: Any) -> None:
        require(entity, prefix, self._signals)
        super().__init__(entity, prefix, clock, case_insensitive=False)


class PassiveMonitor(AnyMonitor):  # type: ignore[misc]  # cocotb-bus has no annotations
    """Base class of monitors without a task; their owner passes each transaction to `_recv`."""

    async def _monitor_recv(self) -> None:
        """Return at once."""
