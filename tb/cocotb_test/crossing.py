"""Crossing between cocotb tasks and the tasks of the kernel: calls, triggers, and their order at one instant.

The rule is on the page of this folder (README.md). Software runs at odd picoseconds. Work that a cocotb task passes at
time t begins at t if t is odd, else at t + 1. It follows everything that software does of itself at that instant, in
the order in which it was passed. Both simulators then agree, whatever the order of their callbacks at one time.
"""

from __future__ import annotations

import inspect
from asyncio import CancelledError
from collections import deque
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import cocotb
from cocotb.task import Task as CocotbTask
from cocotb.task import current_task
from cocotb.triggers import Event as CocotbEvent
from cocotb.triggers import Trigger

from pymodels.errors import SanlabError
from pymodels.kernel import Event, Future, Kernel, Task
from tb.cocotb_test.running_test import waits
from tb.sim.doorway import Doorway
from tb.sim.engine import Engine

Work = Callable[[], Any]
"""Function that begins work of software; it returns a value, or an awaitable of the kernel."""


class Call:
    """Work of a cocotb task in the kernel, and its outcome."""

    def __init__(self, work: Work) -> None:
        self.work = work
        self.ended = CocotbEvent()
        self.value: Any = None
        self.error: BaseException | None = None

    async def run(self) -> None:
        """Do the work and record its outcome. An exception belongs to the cocotb task, not to the kernel."""
        try:
            begun = self.work()
            self.value = await future_of(begun) if is_awaitable(begun) else begun
        except Exception as error:  # noqa: BLE001 - whatever the call raises is raised again in the cocotb task
            self.error = error
        self.ended.set()

    def result(self) -> Any:
        """Return the value of the work, or raise its exception."""
        if self.error is not None:
            raise self.error
        return self.value


class Caller:
    """Kernel task that makes the calls of one cocotb task, so that software sees one thread and not one a call."""

    def __init__(self, kernel: Kernel, name: str) -> None:
        self._kernel, self._name = kernel, f"calls of {name}"
        self._calls = deque[Call]()
        self._idle: Future[None] | None = None
        self._task: Task | None = None

    def make(self, call: Call) -> None:
        """Begin a call, or queue it behind an unfinished one."""
        self._calls.append(call)
        if self._task is None:
            self._task = self._kernel.spawn(self._run(), self._name)
        elif self._idle is not None:
            idle, self._idle = self._idle, None
            idle.set(None)

    def drop(self, call: Call) -> None:
        """Stop an unfinished call: its coroutine is closed, and its results are ignored."""
        if call in self._calls:
            self._calls.remove(call)
        elif self._task is not None and not call.ended.is_set():
            self._kernel.stop(self._task)
            self._task = None
            if self._calls:
                self.make(self._calls.popleft())

    async def _run(self) -> None:
        while True:
            while self._calls:
                await self._calls.popleft().run()
            self._idle = self._kernel.future("the next call")
            await self._idle


running: Crossing | None = None
"""Crossing of the cluster that runs in this simulation."""


class Crossing:
    """Both directions between cocotb and the kernel of one running cluster."""

    def __init__(self, engine: Engine, doorway: Doorway) -> None:
        self.kernel = engine.kernel
        self._doorway = doorway
        self._passed = deque[Work]()
        self._callers: dict[CocotbTask[Any], Caller] = {}
        self._calls: dict[object, str] = {}
        """Name of the unfinished call of each cocotb task."""
        self.over = ""
        """Reason why the cluster accepts no further calls; empty while it runs."""
        engine.more = self._admit
        self.kernel.waits.register(lambda: waits(self._calls))
        global running
        running = self

    def _admit(self) -> bool:
        """Begin all passed work; called by the engine after a turn. Returns True if there was any."""
        if not self._passed:
            return False
        while self._passed:
            self._passed.popleft()()
        return True

    def _pass(self, work: Work) -> None:
        """Pass work to the kernel, which does it at the first odd picosecond from now on."""
        self._passed.append(work)
        self._doorway.wake_by(self._doorway.now() | 1)

    async def call(self, work: Work, name: str = "a call") -> Any:
        """Do work in the kernel, and return its value to the cocotb task that awaits this coroutine.

        Cancelling the cocotb task stops the work.

        Args:
            work: Function that begins the work.
            name: Name of the work for messages.

        Raises:
            SanlabError: The cluster has ended.
            Exception: The exception of the work.
        """
        if self.over:
            raise SanlabError(name, f"the cluster has ended: {self.over}", "make calls between start and end")
        call, caller = Call(work), self._caller()
        self._pass(partial(caller.make, call))
        task = current_task()
        self._calls[task] = name
        try:
            await call.ended.wait()
        except (CancelledError, GeneratorExit):
            self._pass(partial(caller.drop, call))
            raise
        finally:
            self._calls.pop(task, None)
        return call.result()

    def close(self, over: Future[None]) -> None:
        """Set the future that ends the engine, in the order of calls."""
        self._pass(partial(over.set, None))

    def _caller(self) -> Caller:
        """Return the kernel task that makes the calls of the present cocotb task."""
        task = current_task()
        if task not in self._callers:
            self._callers[task] = Caller(self.kernel, f"cocotb task {task.get_name()!r}")
        return self._callers[task]

    async def wait(self, trigger: Trigger | Awaitable[Any]) -> Any:
        """Wait in a kernel task for a cocotb trigger, and return its value.

        The task resumes at the first odd picosecond from then on. Stopping the kernel task cancels the wait.
        """
        fired: Future[Call] = self.kernel.future(f"the trigger {trigger!r}")
        watch = Call(lambda: None)

        async def watching() -> None:
            """Wait in cocotb, and pass the value or the exception of the trigger to the kernel."""
            try:
                watch.value = await trigger
            except Exception as error:  # noqa: BLE001 - raised again in the kernel task
                watch.error = error
            self._pass(partial(fired.set, watch))

        watcher = cocotb.start_soon(watching(), name=f"trigger {trigger!r}")
        try:
            done = await fired
        finally:
            if not watcher.done():
                watcher.cancel()
        return done.result()


def is_awaitable(begun: Any) -> bool:
    """Return True for what a kernel task can wait for: awaitables, events, and tasks."""
    return isinstance(begun, Event) or inspect.isawaitable(begun) or hasattr(begun, "finished")


def future_of(begun: Any) -> Any:
    """Return what to await for a kernel task, an event, or any awaitable of the kernel."""
    if isinstance(begun, Event):
        return begun.wait()
    return begun.finished if hasattr(begun, "finished") else begun


async def trigger(awaited: Trigger | Awaitable[Any]) -> Any:
    """Wait for a cocotb trigger in firmware or host code, as `sanlab.cocotb.trigger` describes."""
    if running is None or running.over:
        cause = running.over if running is not None else "no cluster of a cocotb test is running"
        raise SanlabError("trigger", cause, "await triggers of cocotb between start and end of a cluster test")
    return await running.wait(awaited)
