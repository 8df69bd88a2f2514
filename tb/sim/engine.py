"""Coupling of the event loop with the simulator: one cocotb coroutine and one trigger for the whole cluster.

The doorway toggles `wake` when an event is pending or the loop's next alarm is due. The engine then dispatches the
events, runs every ready task, and requests a wake-up for the next alarm. An alarm that is due before the hardware acts
is handled in the same turn (`tb.sim.turns`). The simulator wakes no other Python code.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from pymodels.errors import SanlabError
from pymodels.kernel import Kernel, Task
from tb.sim.doorway import Doorway
from tb.sim.turns import Turns

HANG_PS = 1_000_000_000_000
"""Simulated time without events, while tasks wait, that counts as a hang: 1 s (our choice; NRES alone may
take up to 4 s).
"""


class HangError(SanlabError):
    """Hang of the simulation: no event can happen, or none has happened for a long time. The message lists
    the waiting tasks.
    """


def _silent() -> None:
    """Do nothing; the default heartbeat."""


def _no_more() -> bool:
    """Return False: no task is ready after a turn."""
    return False


def _kept(error: BaseException) -> None:
    """Ignore an error that `run` raises later; the default failure handler."""


class Engine:
    """Runner of the kernel's tasks on simulated time until a given task ends.

    Args:
        dut: Handle of the simulation's top level.
        doorway: Doorway of the simulation.
        kernel: Event loop with the tasks.
        direct: Let the simulator call Python through the doorway while cocotb's coroutine sleeps until the end. If
            false, each wake-up passes through cocotb; studies that write signals by cocotb handles need this.
    """

    def __init__(self, dut: Any, doorway: Doorway, kernel: Kernel, direct: bool = True) -> None:
        self.kernel = kernel
        self.doorway = doorway
        self.cost = doorway.exchange.cost()
        self.heartbeat: Callable[[], None] = _silent
        """Function called once in HEARTBEAT simulated times at which Python acts."""
        self.more: Callable[[], bool] = _no_more
        """Function called after each turn that cocotb began; returns True if it has made another task ready."""
        self.on_failure: Callable[[BaseException], None] = _kept
        """Function called with the exception of a turn before the simulation ends."""
        self._direct = direct
        self._change = dut.wake.value_change
        self._hang_ps = HANG_PS
        self._told = self._moved = 0
        """Event count at the last heartbeat, and the time at which it last rose."""
        self._failure: BaseException | None = None

    async def start(self, always_on: bool, settle_ps: int = 1_000_000) -> None:
        """Start the clocks, hold reset, and wait `settle_ps` so that every clock domain has left reset."""
        now = self.doorway.now()
        self.doorway.lib.dw_start(int(always_on), (now + settle_ps // 2) | 1)
        self.doorway.wake_by((now + settle_ps) | 1)
        await self._change
        self.kernel.now = self.doorway.now()

    async def run(self, main: Task, hang_ps: int = HANG_PS) -> Any:
        """Run until `main` ends and return its value.

        Raises the exception of a failed task, or HangError with a list of the waiting tasks.
        """
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
        """Execute a turn that cocotb began, and announce its start and end to the doorway."""
        while True:
            self.doorway.lib.dw_begin_turn()
            goes_on = turns()
            self.doorway.lib.dw_end_turn()
            if not goes_on or not self.more():
                return goes_on

    def _failed(self, error: BaseException) -> None:
        """Store the exception of a turn, which `run` raises again."""
        self._failure = error
        self.on_failure(error)

    def _beat(self, now: int) -> None:
        """Check for a hang in which software keeps polling while the hardware reports no events."""
        told = self.doorway.event_count
        if told != self._told:
            self._told, self._moved = told, now
        elif now - self._moved >= self._hang_ps:
            self._hang()
        self.heartbeat()

    def _hang(self) -> NoReturn:
        raise HangError(
            f"nothing has happened for {self._hang_ps / 1e12:g} s of simulated time",
            "; ".join(self.kernel.waiting()) or "no task is waiting",
            "see the last events of the trace, or allow a longer silence with SET run.hang_us=...",
        )
