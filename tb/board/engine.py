"""Event loop of a run on a board: runs the PC's tasks, and otherwise waits for the board.

While no task is ready, the board waits for its comparators. It answers at a match or after a limit. The limit is short
at first, and grows while the answers arrive quickly.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NoReturn

from pymodels.board.map import NodeStatus
from pymodels.kernel import Kernel, Task
from tb.board.link import BoardLink, NodeState
from tb.board.watches import Watches
from tb.sim.engine import HangError
from tb.sim.turns import Cost

FIRST_WAIT_PS, LONGEST_WAIT_PS = 100_000_000, 5_000_000_000
"""First and longest wait on the board: 100 us and 5 ms of its time."""
QUICK_S, SLOW_S = 0.1, 0.4
"""Seconds of a wait below which the next one may be longer, and above which it becomes shorter."""
READ_PS = 20_000_000
"""Longest wait while words without a comparator are read in turns."""

SILENCE = "see the last events of the trace, or allow a longer silence with SET run.hang_us=..."


class BoardEngine:
    """Runner of the kernel's tasks on the board's time.

    Args:
        link: The board.
        watches: Polled words.
        kernel: Event loop.
        look: Function called with the states of all nodes while the board is idle; raises an error for a halted
            processor.
    """

    def __init__(
        self, link: BoardLink, watches: Watches, kernel: Kernel, look: Callable[[list[NodeState]], None]
    ) -> None:
        self.kernel, self.cost = kernel, Cost()
        self.heartbeat: Callable[[], None] = lambda: None
        """Function called in each turn."""
        self._link, self._watches, self._look = link, watches, look
        self._wait_ps = FIRST_WAIT_PS
        self._ring = 1 << link.identity.ring_log2
        self._written = self._moved = 0
        """Records of the ring at the last change of their number, and the time of that change."""
        self._stopped = 0.0
        """Wall-clock time at the start of the first wait in which the board's time has not moved, 0 if it moves."""

    def run(self, main: Task, hang_ps: int) -> Any:
        """Run until `main` ends, and return its value.

        Raises the exception of a failed task or of the board, or HangError with a list of the waiting tasks.
        """
        kernel = self.kernel
        self._moved = kernel.now
        while True:
            begun = time.perf_counter()
            kernel.run_ready()
            self.cost.python_wakes += 1
            self.cost.wall_python_s += time.perf_counter() - begun
            if main.finished.done:
                return main.finished.value
            self.heartbeat()
            alarm = kernel.next_alarm()
            if kernel.ready or (alarm is not None and alarm <= kernel.now):
                continue
            if alarm is None and not self._watches:
                self._hang("no event can happen: nothing is polled, and no task sleeps")
            begun = time.perf_counter()
            self._wait(alarm, hang_ps)
            self.cost.wall_rtl_s += time.perf_counter() - begun

    def _wait(self, alarm: int | None, hang_ps: int) -> None:
        """Wait for a polled word or for the time of an alarm."""
        limit = self._wait_ps if alarm is None else min(self._wait_ps, alarm - self.kernel.now)
        if self._watches.unwatched:
            limit = min(limit, READ_PS)
        begun, before = time.perf_counter(), self.kernel.now
        matched = self._link.wait(self._watches.mask, limit, self._link.bridge.patience_s)
        took = time.perf_counter() - begun
        self._check_time(begun, before)
        if limit == self._wait_ps:
            self._wait_ps = self._next_wait(took)
        written = self._link.drain(self._ring // 4)
        if written != self._written:
            self._written, self._moved = written, self.kernel.now
        if (matched or self._watches.unwatched) and self._watches.found(matched):
            self._moved = self.kernel.now
        elif not matched:
            self._idle(hang_ps)

    def _check_time(self, begun: float, before: int) -> None:
        """Read the board's time after a wait, and raise HangError if it has not moved for the patience of the line.

        Args:
            begun: Wall-clock time at the start of the wait.
            before: Time of the board then.
        """
        if self._link.read_time() > before:
            self._stopped = 0.0
            return
        self._stopped = self._stopped or begun
        if (silence := time.perf_counter() - self._stopped) > self._link.bridge.patience_s:
            what = f"the NIC clock of the board has stopped: no edge in {silence:.1f} s"
            self._hang(what, "reset the board, or load its bitstream again")

    def _next_wait(self, took_s: float) -> int:
        if took_s > SLOW_S:
            return max(self._wait_ps // 2, FIRST_WAIT_PS)
        return min(2 * self._wait_ps, LONGEST_WAIT_PS) if took_s < QUICK_S else self._wait_ps

    def _idle(self, hang_ps: int) -> None:
        """Use a moment in which the PC has nothing to do: look at the nodes, and check for a hang."""
        self._link.check()
        self._look([self._link.state(node) for node in range(self._link.identity.nodes)])
        if self.kernel.now - self._moved >= hang_ps:
            self._hang(f"nothing has happened on the board for {hang_ps / 1e12:g} s of its time")

    def _hang(self, what: str, remedy: str = SILENCE) -> NoReturn:
        raise HangError(what, "; ".join(self.kernel.waiting()) or "no task is waiting", remedy)


def interrupted(state: NodeState) -> bool:
    """Return True if the NIC of a node asserts its interrupt line."""
    return bool(state.status >> NodeStatus.INTERRUPT & 1)
