"""One CPU among the threads of a host's processes.

A thread is a task that uses its process's verbs. One of them runs; it keeps the CPU until it waits for something else
than the CPU, blocks, or its quantum is over while others are ready. A thread that polls gives way to every thread that
is ready (ours: as one that yields in its loop). Whoever gets the CPU after another pays for the switch. Interrupt
routines are no threads: they take the CPU between two instruction sequences of whoever runs.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable
from functools import partial

from pymodels.host.computing import Computation
from pymodels.kernel import Future, Kernel, Task

QUANTUM_PS = 10_000_000_000
"""A thread that computes gives way after so long (assumed: one clock tick of both operating systems, 10 ms)."""


def _nobody() -> None:
    """Wants to know."""


class Scheduler:
    """Decides which thread of a host runs. Each verb runs between `enter` and `leave`."""

    def __init__(self, kernel: Kernel, who: str, switch: Callable[[], Awaitable[None]]) -> None:
        """`switch` takes the time of a context switch on the CPU; it may be replaced."""
        self.kernel = self._kernel = kernel
        self._who = who
        self.switch = switch
        self.running: Task | None = None
        """Who has the CPU, or had it last."""
        self.turned: Callable[[], None] = _nobody
        """Told when another thread has it."""
        self.disturbed: Callable[[], None] = _nobody
        """Told when who runs may not go on as before: a thread waits, a process was told something, a page changed."""
        self._idle = False
        self._inside = False
        self._since = 0
        self._computation: Computation | None = None
        self._bounded = 0
        self._queue: deque[tuple[Task | None, Future[None]]] = deque()
        self.told: set[int] = set()
        """Processes, by number, with something to do after their next verb: a signal has come, a view was given out."""
        self.switches = 0
        """Context switches so far."""

    async def enter(self) -> None:
        """The calling task wants to execute: returns when it runs."""
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
        """A thread waits, or a process was told something."""
        return bool(self._queue or self.told)

    async def give_way(self) -> None:
        """The running thread lets all that are ready run first."""
        if self._queue:
            await self._turn(self._kernel.current)
            self.switches += 1
            await self.switch()
            self.leave()

    def leave(self) -> set[int]:
        """The calling task has executed; if it now waits, another may run. Who was told something: see `told`."""
        self._inside = False
        if self._queue:
            self._kernel.at(self._kernel.now, self._offer)
        return self.told

    def sleep(self) -> None:
        """The running thread blocks: even if nobody else runs meanwhile, it comes back by a context switch."""
        if self.running is self._kernel.current:
            self._idle = True
            self.leave()

    async def compute(self, computation: Computation) -> None:
        """The running thread computes until it is over or stopped, or its quantum is while others are ready."""
        self._computation = computation
        if self._queue:
            self._bound()
        await computation.run()
        self._computation = None

    def _bound(self) -> None:
        """The thread that computes gives way when its quantum is over."""
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
        """Wait behind the others that are ready."""
        turn = self._kernel.future(f"the CPU of {self._who}")
        self._queue.append((me, turn))
        self.disturbed()
        self._inside = self._inside and self.running is not me
        self._bound()
        self._kernel.at(self._kernel.now, self._offer)
        await turn

    def _offer(self) -> None:
        """Nobody executes: the first that is ready runs."""
        if not self._inside and self._queue:
            task, turn = self._queue.popleft()
            self._run(task)
            turn.set(None)
