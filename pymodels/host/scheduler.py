"""Scheduler of one CPU among the threads of a host's processes.

A thread is a task that uses its process's verbs. The running thread keeps the CPU until it waits for something other
than the CPU, blocks, or its quantum ends while others are ready. A polling thread yields to every ready thread (ours:
like a loop that calls yield). A thread that gets the CPU after another one pays for the context switch. Interrupt
routines are not threads: they use the CPU between two instruction sequences of the running thread.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable
from functools import partial

from pymodels.host.computing import Computation
from pymodels.kernel import Future, Kernel, Task

QUANTUM_PS = 10_000_000_000
"""Quantum of a computing thread (assumed: one clock tick of both operating systems, 10 ms)."""


def _nobody() -> None:
    """Ignore a notification."""


class Scheduler:
    """Scheduler of a host's threads. Each verb runs between `enter` and `leave`."""

    def __init__(self, kernel: Kernel, who: str, switch: Callable[[], Awaitable[None]]) -> None:
        """Create a scheduler; the replaceable `switch` charges the CPU with a context switch."""
        self.kernel = self._kernel = kernel
        self._who = who
        self.switch = switch
        self.running: Task | None = None
        """Task that has the CPU, or had it last."""
        self.turned: Callable[[], None] = _nobody
        """Callback when another thread gets the CPU."""
        self.disturbed: Callable[[], None] = _nobody
        """Callback when the running thread may behave differently: a thread waits, a signal arrived, a page changed."""
        self._idle = False
        self._inside = False
        self._since = 0
        self._computation: Computation | None = None
        self._bounded = 0
        self._queue: deque[tuple[Task | None, Future[None]]] = deque()
        self.signalled: set[int] = set()
        """Numbers of the processes that have to act after their next verb: a signal has come, or a view was returned.
        """
        self.switches = 0
        """Number of context switches so far."""

    async def enter(self) -> None:
        """Wait until the calling task runs."""
        me = self._kernel.current
        if self.running is me and not self._idle:
            if not self._queue or self._kernel.now - self._since < QUANTUM_PS:
                self._inside = True
                return
            await self._turn(me)
        elif self.running is None:
            self._run(me)
            return
        elif self._inside or self._queue:
            await self._turn(me)
        else:
            self._run(me)
        self.switches += 1
        await self.switch()

    @property
    def pressed(self) -> bool:
        """True if a thread waits, or a process has to act after its next verb."""
        return bool(self._queue or self.signalled)

    async def give_way(self) -> None:
        """Let all ready threads run before the running one."""
        if self._queue:
            await self._turn(self._kernel.current)
            self.switches += 1
            await self.switch()
            self.leave()

    def leave(self) -> set[int]:
        """Release the CPU if the calling task waits next; return the processes in `signalled`."""
        self._inside = False
        if self._queue:
            self._kernel.at(self._kernel.now, self._offer)
        return self.signalled

    def sleep(self) -> None:
        """Block the running thread, which pays for a context switch on return even if no other thread runs
        meanwhile.
        """
        if self.running is self._kernel.current:
            self._idle = True
            self.leave()

    async def compute(self, computation: Computation) -> None:
        """Run a computation until it ends or is stopped, or its quantum ends while others are ready."""
        self._computation = computation
        if self._queue:
            self._bound()
        await computation.run()
        self._computation = None

    def _bound(self) -> None:
        """Set the alarm for the end of the computing thread's quantum."""
        if self._computation is not None and self._bounded != self._since:
            self._bounded = self._since
            self._kernel.at(self._since + QUANTUM_PS, partial(self._quantum_over, self._since))

    def _quantum_over(self, since: int) -> None:
        if self._computation is not None and self._since == since:
            self._computation.stop()

    def _run(self, task: Task | None) -> None:
        self.running, self._idle, self._inside, self._since = task, False, True, self._kernel.now
        self.turned()

    async def _turn(self, me: Task | None) -> None:
        """Wait in the queue of ready threads."""
        turn = self._kernel.future(f"the CPU of {self._who}")
        self._queue.append((me, turn))
        self.disturbed()
        self._inside = self._inside and self.running is not me
        self._bound()
        self._kernel.at(self._kernel.now, self._offer)
        await turn

    def _offer(self) -> None:
        """Run the first ready thread if none executes."""
        if not self._inside and self._queue:
            task, turn = self._queue.popleft()
            self._run(task)
            turn.set(None)
