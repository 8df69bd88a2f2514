"""As much of `tb.lab.Lab` as a VIA study needs, on the pure-Python machine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from firmware.host.via import Via
from pymodels.kernel import Task
from pymodels.machine import Machine
from tb.lab import Findings
from tests.unit.via_bench import start


class MachineLab:
    """A study's view of a machine."""

    def __init__(self, machine: Machine, seed: int, study: dict[str, int], layer: dict[str, Any]) -> None:
        """`study`, `layer`: options of the study and of VIA."""
        self.machine, self.seed = machine, seed
        self.kernel = machine.kernel
        self.findings = Findings()
        self._study, self._layer = study, layer

    def option(self, name: str) -> int:
        """Of the study."""
        return self._study[name]

    def start_layer(self, layer: str) -> list[Via]:
        """VIA, its driver not yet loaded."""
        assert layer == "via"
        return start(self.machine, load=False, **self._layer)

    def spawn(self, coroutine: Any, name: str) -> Task:
        """Start a task."""
        return self.kernel.spawn(coroutine, name)

    async def all(self, tasks: Sequence[Task]) -> list[Any]:
        """Wait for tasks."""
        return [await task.finished for task in tasks]

    def metric(self, name: str, value: float) -> None:
        """Hand in one number."""
        self.findings.metrics[name] = value

    def check(self, holds: bool, failure: str) -> None:
        """A condition that must hold."""
        if not holds:
            self.findings.failures.append(failure)

    def progress(self, done: int, total: int, what: str) -> None:
        """Nobody watches."""
