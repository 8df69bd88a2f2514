"""Joins the discrete-event loop to the simulator: one cocotb coroutine, one trigger, for the whole cluster.

The doorway toggles `wake` when an event waits or the loop's next alarm is due. The engine then hands the events out,
runs every task that can run, and asks to be woken for the next alarm. Nothing else of Python is ever woken by the
simulator.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from cocotb.triggers import ValueChange

from pymodels.errors import SanlabError
from pymodels.kernel import Kernel, Task
from tb.sim.doorway import Doorway

HANG_PS = 1_000_000_000_000
"""A second of simulated silence while tasks wait counts as a hang (ours; only NRES may take longer, up to 4 s)."""


HEARTBEAT = 1024
"""Wakes between two heartbeats: tens of milliseconds of wall time."""


class HangError(SanlabError):
    """Nothing can ever happen again, or nothing has for a long time: who waits for what."""


def _silent() -> None:
    """No heartbeat."""


@dataclass
class Cost:
    """Where the wall time of a run went."""

    python_wakes: int = 0
    wall_python_s: float = 0.0
    wall_rtl_s: float = 0.0


class Engine:
    """Runs the kernel's tasks on simulated time until a given task ends.

    `direct`: the simulator calls Python straight through the doorway, and cocotb's coroutine sleeps until the end.
    Otherwise each wake goes through cocotb, which a study needs that writes signals by cocotb handles.
    """

    def __init__(self, dut: Any, doorway: Doorway, kernel: Kernel, direct: bool = True) -> None:
        self.kernel = kernel
        self.doorway = doorway
        self.cost = Cost()
        self.heartbeat: Callable[[], None] = _silent
        """Called every so many wakes."""
        self._direct = direct
        self._change = ValueChange(dut.wake)
        self._left = 0.0
        self._limit = 0
        self._hang_ps = HANG_PS
        self._failure: BaseException | None = None

    async def start(self, always_on: bool, settle_ps: int = 1_000_000) -> None:
        """Start the clocks, hold reset, and let `settle_ps` pass so that every domain has left reset."""
        now = self.doorway.now()
        self.doorway.lib.dw_start(int(always_on), (now + settle_ps // 2) | 1)
        self.doorway.wake_by((now + settle_ps) | 1)
        await self._change
        self.kernel.now = self.doorway.now()

    async def run(self, main: Task, hang_ps: int = HANG_PS) -> Any:
        """Run until `main` ends; its return value. Raises what a task raises, and HangError: who waits for what."""
        self._hang_ps = hang_ps
        self._left = time.perf_counter()
        if self._cocotb_turn(main) and self._direct:
            with self.doorway.called_back(lambda: self._wake(main)):
                await self._change
        elif not main.finished.done:
            while True:
                await self._change
                if not self._cocotb_turn(main):
                    break
        if self._failure is not None:
            raise self._failure
        return await main.finished

    def _cocotb_turn(self, main: Task) -> bool:
        """A turn that cocotb began: the doorway does not know of it by itself."""
        self.doorway.lib.dw_begin_turn()
        goes_on = self._turn(main)
        self.doorway.lib.dw_end_turn()
        return goes_on

    def _wake(self, main: Task) -> None:
        """The simulator's call. An exception must not reach C: it is kept, and the run ends."""
        try:
            over = not self._turn(main)
        except BaseException as error:  # noqa: BLE001 - Ctrl-C too: raised again in `run`
            self._failure = error
            over = True
        if over:
            self.doorway.hand_over()

    def _turn(self, main: Task) -> bool:
        """One turn of Python: hand out events, run what can run, ask for the next wake. False when `main` has ended."""
        entered = time.perf_counter()
        kernel, doorway, cost = self.kernel, self.doorway, self.cost
        cost.wall_rtl_s += entered - self._left
        cost.python_wakes += 1
        if not cost.python_wakes % HEARTBEAT:
            self.heartbeat()
        turn = doorway.turn
        kernel.now = now = turn[0]
        if now >= self._limit and self._limit:
            raise self._hang()
        doorway.drain()
        kernel.run_ready()
        over = main.finished.done
        if not over:
            alarm = kernel.next_alarm()
            limit = now + self._hang_ps
            self._limit = limit if alarm is None else 0
            turn[1] = limit if alarm is None or alarm > limit else alarm
        else:
            turn[1] = 0
        self._left = time.perf_counter()
        cost.wall_python_s += self._left - entered
        return not over

    def _hang(self) -> HangError:
        return HangError(
            f"nothing has happened for {self._hang_ps / 1e12:g} s of simulated time",
            "; ".join(self.kernel.waiting()) or "no task waits for anything",
            "look at the last events of the trace; a longer silence is allowed with SET run.hang_us=...",
        )
