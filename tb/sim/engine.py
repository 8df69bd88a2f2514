"""Joins the discrete-event loop to the simulator: one cocotb coroutine, one trigger, for the whole cluster.

The doorway toggles `wake` when an event waits or the loop's next alarm is due. The engine then hands the events out,
runs every task that can run, and asks to be woken for the next alarm. Nothing else of Python is ever woken by the
simulator.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from time import perf_counter
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
        self._hang_ps = HANG_PS
        self._told = self._moved = 0
        """Events that the hardware had told at the last heartbeat, and when there was one more."""
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
        turn = self._turns(main)
        if self._cocotb_turn(turn) and self._direct:
            with self.doorway.called_back(partial(self._wake, turn)):
                await self._change
        elif not main.finished.done:
            while True:
                await self._change
                if not self._cocotb_turn(turn):
                    break
        if self._failure is not None:
            raise self._failure
        return await main.finished

    def _cocotb_turn(self, turn: Callable[[], bool]) -> bool:
        """A turn that cocotb began: the doorway does not know of it by itself."""
        self.doorway.lib.dw_begin_turn()
        goes_on = turn()
        self.doorway.lib.dw_end_turn()
        return goes_on

    def _wake(self, turn: Callable[[], bool]) -> None:
        """The simulator's call. An exception must not reach C: it is kept, and the run ends."""
        try:
            over = not turn()
        except BaseException as error:  # noqa: BLE001 - Ctrl-C too: raised again in `run`
            self._failure = error
            over = True
        if over:
            self.doorway.hand_over()

    def _turns(self, main: Task) -> Callable[[], bool]:
        """The function that is one turn of Python: hand out events, run what can run, ask for the next wake.

        It says False when `main` has ended. The hot path: what it needs is looked up here, once.
        """
        kernel, cost, words, drain = self.kernel, self.cost, self.doorway.turn, self.doorway.drainer()
        run_ready, next_alarm, finished, hang_ps = kernel.run_ready, kernel.next_alarm, main.finished, self._hang_ps
        limit, left = 0, perf_counter()

        def turn() -> bool:
            nonlocal limit, left
            entered = perf_counter()
            cost.wall_rtl_s += entered - left
            cost.python_wakes += 1
            if not cost.python_wakes % HEARTBEAT:
                self._beat(words[0])
            kernel.now = now = words[0]
            if limit and now >= limit:
                raise self._hang()
            drain()
            run_ready()
            alarm = next_alarm()
            limit = 0 if alarm is not None else now + hang_ps
            words[1] = 0 if finished.done else limit if alarm is None else min(alarm, now + hang_ps)
            left = perf_counter()
            cost.wall_python_s += left - entered
            return not finished.done

        return turn

    def _beat(self, now: int) -> None:
        """Software that looks again and again, while no hardware tells anything any more, hangs too."""
        told = self.doorway.told
        if told != self._told:
            self._told, self._moved = told, now
        elif now - self._moved >= self._hang_ps:
            raise self._hang()
        self.heartbeat()

    def _hang(self) -> HangError:
        return HangError(
            f"nothing has happened for {self._hang_ps / 1e12:g} s of simulated time",
            "; ".join(self.kernel.waiting()) or "no task waits for anything",
            "look at the last events of the trace; a longer silence is allowed with SET run.hang_us=...",
        )
