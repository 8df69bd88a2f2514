"""The cocotb test of a run whose instructions are counted between two of its messages."""

from __future__ import annotations

import ctypes
import os
from typing import Any

import cocotb

from tb.bench.between import Between
from tb.lab.cluster import RunningCluster
from tb.lab.lab import Findings, Lab
from tb.lab.switch import RunningSwitch
from tb.plan.request import Plan
from tb.run.entry import whole_run

COUNTING, BETWEEN = "SANLAB_COUNTING", "SANLAB_COUNT_BETWEEN"
"""The library that tells Callgrind; `<first>,<last>`: the messages of the study between which it counts."""


class _Counted(Findings):
    """Findings that know when it is time."""

    def __init__(self) -> None:
        first, last = map(int, os.environ[BETWEEN].split(","))
        library = ctypes.CDLL(os.environ[COUNTING])
        self._between = Between(first, last, library.count_from_here, library.count_to_here)
        super().__init__()

    def __setattr__(self, name: str, value: Any) -> None:
        before = getattr(self, "messages", 0)
        super().__setattr__(name, value)
        if name == "messages":
            self._between.changed(before, value)


class _CountedLab(Lab):
    """A lab with such findings."""

    def __init__(self, plan: Plan, running: RunningCluster | RunningSwitch) -> None:
        super().__init__(plan, running)
        self.findings = _Counted()


@cocotb.test()
async def study(dut: Any) -> None:
    """As `tb.run.entry.study`."""
    await whole_run(dut, _CountedLab)
