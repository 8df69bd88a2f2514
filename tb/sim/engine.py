"""Joins the discrete-event loop to the simulator: one cocotb coroutine, one trigger, for the whole cluster.

The doorway toggles `wake` when an event waits or the loop's next alarm is due. The engine then hands the events out, runs every
task that can run, and asks to be woken for the next alarm. Nothing else of Python is ever woken by the simulator.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from cocotb.triggers import Timer, ValueChange

from pymodels.errors import SanlabError
from pymodels.kernel import Kernel, Task
from tb.sim.doorway import Doorway

HANG_PS = 1_000_000_000_000
"""A second of simulated silence while tasks wait counts as a hang (ours; far above every time-out of the hardware but 4 s NRES)."""


class Hang(SanlabError):
    """Nothing can ever happen again, or nothing has for a long time: who waits for what."""


@dataclass
class Cost:
    """Where the wall time of a run went."""

    python_wakes: int = 0
    wall_python_s: float = 0.0
    wall_rtl_s: float = 0.0


class Engine:
    """Runs the kernel's tasks on simulated time until a given task ends."""

    def __init__(self, dut: Any, doorway: Doorway, kernel: Kernel) -> None:
        self.kernel = kernel
        self.doorway = doorway
        self.cost = Cost()
        self._change = ValueChange(dut.wake)

    async def start(self, always_on: bool, settle_ps: int = 1_000_000) -> None:
        """Start the clocks, hold reset, and let `settle_ps` pass so that every domain has left reset."""
        now = self.doorway.now()
        self.doorway.lib.dw_start(int(always_on), (now + settle_ps // 2) | 1)
        self.doorway.wake_by((now + settle_ps) | 1)
        await self._change
        self.kernel.now = self.doorway.now()

    async def run(self, main: Task, hang_ps: int = HANG_PS) -> Any:
        """Run until `main` ends; its return value. Raises Hang with a line per waiting task."""
        kernel, doorway, change, cost = self.kernel, self.doorway, self._change, self.cost
        finished = main.finished
        entered = time.perf_counter()
        while True:
            kernel.now = doorway.now()
            doorway.drain()
            kernel.run_ready()
            if finished.done:
                cost.wall_python_s += time.perf_counter() - entered
                return await finished
            alarm = kernel.next_alarm()
            limit = kernel.now + hang_ps
            doorway.wake_by(limit | 1 if alarm is None or alarm > limit else alarm)
            left = time.perf_counter()
            cost.wall_python_s += left - entered
            await change
            entered = time.perf_counter()
            cost.wall_rtl_s += entered - left
            cost.python_wakes += 1
            if alarm is None and doorway.now() >= limit:
                raise Hang(
                    f"nothing has happened for {hang_ps / 1e12:g} s of simulated time",
                    "; ".join(kernel.waiting()) or "no task waits for anything",
                    "look at the last events of the trace; a longer silence is allowed with SET run.hang_us=...",
                )

    async def sleep_raw(self, duration_ps: int) -> None:
        """Let the simulator run on its own for a while (used at the end of a run, to see that nothing is left in flight)."""
        await Timer(duration_ps, unit="ps")
