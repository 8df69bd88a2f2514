"""The one place that touches cocotb-bus: wires bound by prefix; driver, monitor and scoreboard for agents to build on.

cocotb-bus looks up wire after wire, ignoring case, and fails at the first one missing with a traceback into itself;
here every missing wire is named in one error, and names count as written.

cocotb-bus is no longer maintained. Its last release, 0.3.0, runs on cocotb 2.1, and no other file imports it. About a
hundred lines here would replace it: `Driver` with a queue and a task that hands transactions to `_driver_send`,
`Monitor` with a task and callbacks for `_recv`, `Checker` with a list of what is expected for each monitor. cocotb's
own tasks, `Queue` and `Event` are enough for that, as cocotbext-axi does it. The agents would not change.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from cocotb_bus.drivers import BusDriver
from cocotb_bus.monitors import BusMonitor
from cocotb_bus.scoreboard import Scoreboard


class MissingWiresError(AttributeError):
    """An entity lacks wires that an agent needs."""


def require(entity: Any, prefix: str, wires: Iterable[str]) -> dict[str, Any]:
    """The handles of `prefix`_`wire` (`wire` with an empty prefix). Raises MissingWiresError naming all absent ones."""
    names = {wire: f"{prefix}_{wire}" if prefix else wire for wire in wires}
    absent = [name for name in names.values() if not hasattr(entity, name)]
    if absent:
        binds = ", ".join(names.values())
        raise MissingWiresError(f"{entity._name} has no wire {', '.join(absent)}; the agent binds {binds}")
    return {wire: entity[name] for wire, name in names.items()}


class Driver(BusDriver):  # type: ignore[misc]  # cocotb-bus has no annotations
    """A driver on the wires `_signals` behind a prefix; `append` and `send` take transactions."""

    _signals: ClassVar[list[str]] = []

    def __init__(self, entity: Any, prefix: str, clock: Any) -> None:
        require(entity, prefix, self._signals)
        super().__init__(entity, prefix, clock, case_insensitive=False)


class Monitor(BusMonitor):  # type: ignore[misc]  # cocotb-bus has no annotations
    """A monitor on the wires `_signals` behind a prefix; subclasses call `_recv` with each transaction."""

    _signals: ClassVar[list[str]] = []

    def __init__(self, entity: Any, prefix: str, clock: Any) -> None:
        require(entity, prefix, self._signals)
        super().__init__(entity, prefix, clock, case_insensitive=False)


class Checker(Scoreboard):  # type: ignore[misc]  # cocotb-bus has no annotations
    """In-order comparison of what monitors receive with what models expect; the first difference fails the test."""

    def finish(self) -> None:
        """Raise AssertionError unless everything expected has come, naming what has not."""
        open_items = {str(monitor): len(expected) for monitor, expected in self.expected.items() if expected}
        assert not open_items, f"never received: {open_items}"
        assert not self.errors, f"{self.errors} differences"
