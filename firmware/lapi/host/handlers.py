"""Handlers of a task: header handlers and their addresses; completion handlers, which have a thread of their own."""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from firmware.verbs import Host
from pymodels.host.process import Process

TEXT = 0x0800_0000
"""Where the functions of a program stand, the same in every task (ours)."""
STEP = 16

CompletionHandler = Callable[[Any, Any], Awaitable[None]]
"""Of the LAPI of its task, and of the argument that the header handler gave. It may call LAPI."""


@dataclass(frozen=True)
class Set:
    """A completion handler that LAPI brings along: it stores a word, and needs no thread (paper 001, 6.4.3)."""

    address: int
    value: int
    at_sender: bool = False
    """The word is the sending task's."""


@dataclass(frozen=True)
class Place:
    """What a header handler answers."""

    address: int = 0
    """Where the data go; 0 for a message without data."""
    completion: CompletionHandler | Set | None = None
    """What runs when they are there."""
    argument: Any = None
    stored: Callable[[], None] | None = None
    """Told when all data are there, before anything else: for buffers that stand beside the task's memory (ours). It
    takes no time.
    """


HeaderHandler = Callable[[int, bytes, int], Awaitable[Place]]
"""Of the sending task, the user header, and the bytes of data. It may not call LAPI."""


class Functions:
    """The header handlers of a program, and where they stand in its text."""

    def __init__(self) -> None:
        self._at: dict[int, HeaderHandler] = {}

    def place(self, handler: HeaderHandler) -> int:
        """Its address."""
        address = TEXT + STEP * len(self._at)
        self._at[address] = handler
        return address

    def at(self, address: int) -> HeaderHandler | None:
        """The handler that stands there."""
        return self._at.get(address)


@dataclass(frozen=True)
class Completion:
    """A completion handler that is to run."""

    handler: CompletionHandler
    argument: Any
    source: int
    then: Callable[[], Awaitable[None]]
    """What is done when it has ended."""


class CompletionThread:
    """Runs completion handlers, one after the other. It sleeps while there is none."""

    def __init__(self, host: Host, process: Process, task: int, lapi: Any) -> None:
        self._host, self._scheduler, self._lapi = host, process.host.scheduler, lapi
        self._who = f"{host.who}: task {task}"
        self._due = deque[Completion]()
        self._wake = host.event("a completion handler to run")
        self._running = False
        self.runs = 0
        """Handlers that have run."""
        process.spawn(self._run(), "completion handlers")

    @property
    def wants(self) -> bool:
        """Whether it has something to do, and lacks but the CPU."""
        return bool(self._due) and not self._running

    def give(self, completion: Completion) -> None:
        """Have a handler run."""
        self._due.append(completion)
        self._wake.set()

    async def _run(self) -> None:
        while True:
            while self._due:
                await self._scheduler.enter()
                self._running = True
                completion = self._due.popleft()
                await self._host.spend("lapi_complete")
                self._scheduler.leave()
                await self._complete(completion)
                self._running = False
            self._scheduler.sleep()
            await self._wake.wait()

    async def _complete(self, completion: Completion) -> None:
        """Run one; reports of a hang name it meanwhile."""
        name = getattr(completion.handler, "__qualname__", repr(completion.handler))
        what = f"the end of completion handler {name}, of a message of task {completion.source}"
        self._host.waits.want(self._who, what)
        await completion.handler(self._lapi, completion.argument)
        self._host.waits.got(self._who, what)
        await self._scheduler.enter()
        await completion.then()
        self.runs += 1
        self._scheduler.leave()
