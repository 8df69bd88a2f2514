"""Cocotb test of a run whose instructions are counted between two of its messages."""

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
"""Environment variables: library that switches Callgrind's counting; `<first>,<last>` messages between which
it counts.
"""


class _Counted(Findings):
    """Findings that switch the counting when `messages` changes."""

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
    """Lab with findings that switch the counting."""

    def __init__(self, plan: Plan, running: RunningCluster | RunningSwitch) -> None:
        super().__init__(plan, running)
        self.findings = _Counted()


@cocotb.test()
async def study(dut: Any) -> None:
    """Run a study as `tb.run.entry.study` does, with counting."""
    await whole_run(dut, _CountedLab)
