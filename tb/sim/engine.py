"""Joins the discrete-event loop to the simulator: one cocotb coroutine, one trigger, for the whole cluster.

The doorway toggles `wake` when an event waits or the loop's next alarm is due. The engine then hands the events out,
runs every task that can run, and asks to be woken for the next alarm, unless that is due before the hardware does
anything (`tb.sim.turns`). Nothing else of Python is ever woken by the simulator.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from pymodels.errors import SanlabError
from pymodels.kernel import Kernel, Task
from tb.sim.doorway import Doorway
from tb.sim.turns import Turns

HANG_PS = 1_000_000_000_000
"""A second of simulated silence while tasks wait counts as a hang (ours; only NRES may take longer, up to 4 s)."""


class HangError(SanlabError):
    """The simulation hangs: nothing can happen any more, or nothing has for a long time. The message says who waits for
    what.
    """


def _silent() -> None:
    """No heartbeat."""


def _kept(error: BaseException) -> None:
    """A failure that `run` raises again; nobody else wants it."""


class Engine:
    """Runs the kernel's tasks on simulated time until a given task ends.

    `direct`: the simulator calls Python straight through the doorway, and cocotb's coroutine sleeps until the end.
    Otherwise each wake goes through cocotb, which a study needs that writes signals by cocotb handles.
    """

    def __init__(self, dut: Any, doorway: Doorway, kernel: Kernel, direct: bool = True) -> None:
        self.kernel = kernel
        self.doorway = doorway
        self.cost = doorway.exchange.cost()
        self.heartbeat: Callable[[], None] = _silent
        """Called every so many times at which Python acts."""
        self.on_failure: Callable[[BaseException], None] = _kept
        """Called with what a turn raises, before the simulation ends for it."""
        self._direct = direct
        self._change = dut.wake.value_change
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
        still = self.doorway.lib.dw_still_until if self._direct else None
        parts = self.kernel, main.finished, self.cost, hang_ps, self._beat, self._hang, still
        turns = self.doorway.exchange.turns(*parts)
        if self._cocotb_turn(turns) and self._direct:
            with self.doorway.called_back(turns, self._failed):
                await self._change
        elif not main.finished.done:
            while True:
                await self._change
                if not self._cocotb_turn(turns):
                    break
        if self._failure is not None:
            raise self._failure
        return await main.finished

    def _cocotb_turn(self, turns: Turns) -> bool:
        """A turn that cocotb began: the doorway does not know of it by itself."""
        self.doorway.lib.dw_begin_turn()
        goes_on = turns()
        self.doorway.lib.dw_end_turn()
        return goes_on

    def _failed(self, error: BaseException) -> None:
        """A turn raised: kept, and raised again in `run`."""
        self._failure = error
        self.on_failure(error)

    def _beat(self, now: int) -> None:
        """Software that keeps polling while the hardware reports no events hangs too."""
        told = self.doorway.told
        if told != self._told:
            self._told, self._moved = told, now
        elif now - self._moved >= self._hang_ps:
            self._hang()
        self.heartbeat()

    def _hang(self) -> NoReturn:
        raise HangError(
            f"nothing has happened for {self._hang_ps / 1e12:g} s of simulated time",
            "; ".join(self.kernel.waiting()) or "no task waits for anything",
            "look at the last events of the trace; a longer silence is allowed with SET run.hang_us=...",
        )
