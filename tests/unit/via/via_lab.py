"""Subset of `tb.lab.lab.Lab` for VIA studies on the pure-Python machine."""

from __future__ import annotations

from typing import Any

from firmware.via.host import Via
from pymodels.kernel import Kernel
from pymodels.machine import Machine
from tb.lab.lab import Notebook
from tests.unit.via.via_bench import start


class MachineLab(Notebook):
    """Lab of a study on a machine."""

    def __init__(self, machine: Machine, seed: int, study: dict[str, int], layer: dict[str, Any]) -> None:
        """Create the lab; `study` and `layer` are options of the study and of VIA."""
        super().__init__()
        self.machine, self.seed = machine, seed
        self._study, self._layer = study, layer

    @property
    def kernel(self) -> Kernel:
        """Event loop of the machine."""
        return self.machine.kernel

    def option(self, name: str) -> int:
        """Return an option of the study."""
        return self._study[name]

    def start_layer(self, layer: str) -> list[Via]:
        """Return the VIA libraries, with the driver not yet loaded."""
        assert layer == "via"
        return start(self.machine, load=False, **self._layer)

    def progress(self, done: int, total: int, what: str) -> None:
        """Ignore the progress of the study."""
