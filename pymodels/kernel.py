"""Discrete-event loop that runs the coroutines of firmware and drivers.

The same loop serves both backends. On the pure-Python machine it also advances time (`run`). On the RTL the simulator
advances time: the engine calls `run_ready` at each wake-up and reads `next_alarm`. Coroutines are plain `async def`;
they suspend on a `Future` only, so that resuming one costs a function call instead of a scheduler round.

Times are integer picoseconds. Software acts at odd picoseconds and clock edges occur at even ones. A coroutine
therefore never coincides with an edge, and both simulators agree on the values that it reads.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Coroutine, Generator, Iterator
from functools import partial
from inspect import CORO_CREATED, getcoroutinestate
from typing import Any, Generic, TypeVar

from pymodels.waiting import Wait, Waits, Wanted

T = TypeVar("T")
FOREVER = 1 << 62
"""Time later than every event."""
Waiting = Generator["Future[Any]", None, T]
Why = str | Wanted
"""Reason of a wait for reports: a text, or a resource with its holder."""


class Future(Generic[T]):
    """Value that is set later. Awaiting it suspends the task until `set`; `why` describes the wait in hang reports."""

    __slots__ = ("_ready", "done", "tasks", "value", "why")

    def __init__(self, kernel: Kernel, why: Why = "") -> None:
        self.done = False
        self.why = why
        self.tasks: tuple[Task, ...] = ()
        """Waiting tasks, in the order in which they began to wait."""
        self.value: T
        """Argument of `set`."""
        self._ready = kernel.ready

    def set(self, value: T, /) -> None:
        """Set the value and make all waiting tasks ready at the present time, in the order in which they began to
        wait.
        """
        if self.done:
            raise RuntimeError(f"future set twice: {self.why}")
        self.value = value
        self.done = True
        self._ready.extend(self.tasks)

    def __await__(self) -> Waiting[T]:
        if not self.done:
            yield self
        return self.value


class Task:
    """Running coroutine. `finished` is a future with its return value."""

    __slots__ = ("finished", "name", "resume", "waits_for")

    def __init__(self, kernel: Kernel, coroutine: Coroutine[Any, Any, Any], name: str) -> None:
        self.resume = coroutine.send
        """Function that runs the task until it suspends, and returns the future that it then awaits."""
        self.name = name
        self.finished: Future[Any] = Future(kernel, f"end of {name}")
        self.waits_for: Future[Any] | None = None
        """Future on which the task suspended last."""


def close_unstarted(*coroutines: Coroutine[Any, Any, Any]) -> None:
    """Close coroutines that have not started and will not be run."""
    for one in coroutines:
        if getcoroutinestate(one) == CORO_CREATED:
            one.close()


def _stopped(value: None) -> Future[Any]:
    """Continuation of a stopped task; ends the task at once."""
    raise StopIteration


class Event:
    """Condition that any number of tasks can wait for repeatedly; `set` wakes all tasks that wait at that moment."""

    __slots__ = ("_future", "_kernel", "_why")

    def __init__(self, kernel: Kernel, why: Why = "") -> None:
        self._kernel = kernel
        self._why = why
        self._future: Future[None] | None = None

    def set(self) -> None:
        """Wake every task that waits at this moment; later waits are not affected."""
        future = self._future
        if future is not None:
            self._future = None
            future.set(None)

    def wait(self) -> Future[None]:
        """Return the future of the next `set`."""
        if self._future is None:
            self._future = self._kernel.future(self._why)
        return self._future


class Queue(Generic[T]):
    """Unbounded first-in first-out queue between tasks."""

    __slots__ = ("_arrival", "items")

    def __init__(self, kernel: Kernel, why: Why = "") -> None:
        self.items: deque[T] = deque()
        self._arrival = Event(kernel, why)

    def put(self, item: T) -> None:
        """Append an item and wake a waiting `get`."""
        self.items.append(item)
        self._arrival.set()

    async def get(self) -> T:
        """Remove and return the oldest item; waits while the queue is empty."""
        while not self.items:
            await self._arrival.wait()
        return self.items.popleft()


class Kernel:
    """Scheduler of tasks in a fixed order: by time, then by the order in which they became ready."""

    compiled = "KernelMethods"
    """Type in tb/sim/twin/doorway_python.c that implements the loop in C, for the subclass `KernelC`
    (`tb.sim.compiled`) with the futures `FutureC` and tasks `TaskC`. Parameters that are positional-only in C are
    positional-only here.
    """

    def __init__(self) -> None:
        self.now = 1
        self.ready: deque[Task] = deque()
        self.tasks: dict[Task, None] = {}
        self.current: Task | None = None
        """Task that runs now, or ran last."""
        self.waits = Waits()
        """Waits declared by software."""
        self._alarms: list[tuple[int, int, Callable[[], None]]] = []
        self._alarm_count = 0

    def spawn(self, coroutine: Coroutine[Any, Any, Any], name: str, /) -> Task:
        """Start a coroutine at the present time; it first runs when the present task suspends."""
        task = Task(self, coroutine, name)
        self.tasks[task] = None
        self.ready.append(task)
        return task

    def stop(self, task: Task, /) -> None:
        """Stop a suspended task: it never resumes, and tasks that await its `finished` wait for ever."""
        if task in self.tasks:
            del self.tasks[task]
            task.resume = _stopped

    def future(self, why: Why = "", /) -> Future[Any]:
        """Return a new future."""
        return Future(self, why)

    def at(self, time_ps: int, call: Callable[[], None], /) -> None:
        """Call a function at a time, rounded up to an odd picosecond and not before the present time."""
        now = self.now
        self._alarm_count += 1
        heapq.heappush(self._alarms, ((time_ps if time_ps > now else now) | 1, self._alarm_count, call))

    def sleep_until(self, time_ps: int, why: Why = "time", /) -> Future[None]:
        """Return a future that is set at `time_ps`."""
        future: Future[None] = Future(self, why)
        self.at(time_ps, partial(future.set, None))
        return future

    def sleep(self, duration_ps: int, why: Why = "time", /) -> Future[None]:
        """Return a future that is set `duration_ps` from now."""
        return self.sleep_until(self.now + duration_ps, why)

    def next_alarm(self) -> int | None:
        """Return the time of the earliest alarm, or None."""
        return self._alarms[0][0] if self._alarms else None

    def quiet_until(self) -> int:
        """Return the time until which only the present task runs: the earliest alarm, or now if other tasks are
        ready.
        """
        if self.ready:
            return self.now
        return self._alarms[0][0] if self._alarms else FOREVER

    def run_ready(self) -> None:
        """Fire all due alarms and run all ready tasks.

        An exception of a task is raised again; from Python 3.11 on with a note that contains the task's name and the
        time.
        """
        alarms, ready, now = self._alarms, self.ready, self.now
        while True:
            while alarms and alarms[0][0] <= now:
                heapq.heappop(alarms)[2]()
            if not ready:
                return
            task = self.current = ready.popleft()
            try:
                future = task.resume(None)
            except StopIteration as stop:
                if task in self.tasks:
                    del self.tasks[task]
                    task.finished.set(stop.value)
            except Exception as error:
                del self.tasks[task]
                if hasattr(error, "add_note"):  # from Python 3.11 on
                    error.add_note(f"in task {task.name} at {now / 1e6:.6f} us")
                raise
            else:
                if future.done:
                    ready.append(task)
                else:
                    task.waits_for = future
                    future.tasks += (task,)

    def run(self, until_ps: int | None = None) -> None:
        """Advance time from alarm to alarm until no alarm is left, or until `until_ps`."""
        self.run_ready()
        while (alarm := self.next_alarm()) is not None and (until_ps is None or alarm <= until_ps):
            self.now = alarm
            self.run_ready()

    def waiting(self) -> list[str]:
        """Return one line for each suspended task and declared wait, with its reason, for hang reports."""
        return [str(wait) for wait in (*self._suspended(), *self.waits.declared())]

    def waits_held(self) -> list[Wait]:
        """Return the waits of tasks and the declared waits whose holder is known."""
        return [wait for wait in (*self._suspended(), *self.waits.declared()) if wait.wanted.holder]

    def _suspended(self) -> Iterator[Wait]:
        for task in self.tasks:
            if task.waits_for is not None and not task.waits_for.done:
                why = task.waits_for.why or "an event"
                yield Wait(task.name, self.waits.known(why if isinstance(why, Wanted) else Wanted(why)))
