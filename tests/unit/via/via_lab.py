"""As much of `tb.lab.lab.Lab` as a VIA study needs, on the pure-Python machine."""

from __future__ import annotations

from typing import Any

from firmware.via.host import Via
from pymodels.kernel import Kernel
from pymodels.machine import Machine
from tb.lab.lab import Notebook
from tests.unit.via.via_bench import start


class MachineLab(Notebook):
    """A study's view of a machine."""

    def __init__(self, machine: Machine, seed: int, study: dict[str, int], layer: dict[str, Any]) -> None:
        """`study`, `layer`: options of the study and of VIA."""
        super().__init__()
        self.machine, self.seed = machine, seed
        self._study, self._layer = study, layer

    @property
    def kernel(self) -> Kernel:
        """The machine's."""
        return self.machine.kernel

    def option(self, name: str) -> int:
        """Of the study."""
        return self._study[name]

    def start_layer(self, layer: str) -> list[Via]:
        """VIA, its driver not yet loaded."""
        assert layer == "via"
        return start(self.machine, load=False, **self._layer)

    def progress(self, done: int, total: int, what: str) -> None:
        """Nobody watches."""
