"""cocotb-bus base classes for the agents of block benches: driver, monitor and scoreboard bound to wires by prefix.

cocotb-bus resolves wires one at a time, ignores case, and reports only the first missing wire. `require` reports all
missing wires in one error and compares names exactly.

cocotb-bus is no longer maintained. Its last release, 0.3.0, runs on cocotb 2.1. Only this file imports it, so that it
can be replaced without a change of the agents:

- `Driver`: a queue and a task that passes transactions to `_driver_send`,
- `Monitor`: a task and callbacks for `_recv`,
- `Checker`: a list of expected transactions for each monitor.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from cocotb_bus.drivers import BusDriver
from cocotb_bus.monitors import BusMonitor
from cocotb_bus.scoreboard import Scoreboard


class MissingWiresError(AttributeError):
    """Missing wires of an entity that an agent binds."""


def require(entity: Any, prefix: str, wires: Iterable[str]) -> dict[str, Any]:
    """Return the handles of the wires `<prefix>_<wire>` of an entity, by wire.

    Args:
        entity: Handle of the entity.
        prefix: Prefix of the wires; empty for wires without prefix and underscore.
        wires: Names after the prefix.

    Raises:
        MissingWiresError: One or more wires are missing; the message names all of them.
    """
    names = {wire: f"{prefix}_{wire}" if prefix else wire for wire in wires}
    absent = [name for name in names.values() if not hasattr(entity, name)]
    if absent:
        binds = ", ".join(names.values())
        raise MissingWiresError(f"{entity._name}: missing wires {', '.join(absent)}; the agent binds {binds}")
    return {wire: entity[name] for wire, name in names.items()}


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


class Checker(Scoreboard):  # type: ignore[misc]  # cocotb-bus has no annotations
    """Scoreboard that compares received with expected transactions in order; the first difference fails the test."""

    def finish(self) -> None:
        """Raise AssertionError if an expected transaction was not received or a comparison failed."""
        open_items = {str(monitor): len(expected) for monitor, expected in self.expected.items() if expected}
        assert not open_items, f"expected transactions not received: {open_items}"
        assert not self.errors, f"{self.errors} transactions differ from the expected ones"
