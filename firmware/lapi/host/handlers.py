"""Handlers of a task: header handlers and their addresses, and completion handlers, which run on their own thread."""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from firmware.verbs import Host
from pymodels.host.process import Process

TEXT = 0x0800_0000
"""Start address of a program's functions, the same in every task (ours)."""
STEP = 16

CompletionHandler = Callable[[Any, Any], Awaitable[None]]
"""Completion handler: takes the task's LAPI and the argument given by the header handler. It may call LAPI."""


@dataclass(frozen=True)
class Set:
    """Built-in completion handler that stores a word and needs no thread (paper 001, 6.4.3)."""

    address: int
    value: int
    at_sender: bool = False
    """True if the word is the sending task's."""


@dataclass(frozen=True)
class Place:
    """Result of a header handler."""

    address: int = 0
    """Destination address of the data; 0 for a message without data."""
    completion: CompletionHandler | Set | None = None
    """Handler to run when the data are complete."""
    argument: Any = None
    stored: Callable[[], None] | None = None
    """Callback when all data are stored, before any other effect, for buffers outside the task's memory (ours). Takes
    no time.
    """


HeaderHandler = Callable[[int, bytes, int], Awaitable[Place]]
"""Header handler: takes sending task, user header, and data size in bytes. It may not call LAPI."""


class Functions:
    """Header handlers of a program and their addresses."""

    def __init__(self) -> None:
        self._at: dict[int, HeaderHandler] = {}

    def place(self, handler: HeaderHandler) -> int:
        """Register a handler and return its address."""
        address = TEXT + STEP * len(self._at)
        self._at[address] = handler
        return address

    def at(self, address: int) -> HeaderHandler | None:
        """Return the handler at an address, or None."""
        return self._at.get(address)


@dataclass(frozen=True)
class Completion:
    """Pending completion handler."""

    handler: CompletionHandler
    argument: Any
    source: int
    then: Callable[[], Awaitable[None]]
    """Callback after the handler has ended."""


class CompletionThread:
    """Thread that runs completion handlers one after the other and sleeps while none is pending."""

    def __init__(self, host: Host, process: Process, task: int, lapi: Any) -> None:
        self._host, self._scheduler, self._lapi = host, process.host.scheduler, lapi
        self._who = f"{host.who}: task {task}"
        self._due = deque[Completion]()
        self._wake = host.event("a completion handler to run")
        self._running = False
        self.runs = 0
        """Number of handlers that have run."""
        process.spawn(self._run(), "completion handlers")

    @property
    def wants(self) -> bool:
        """True if a handler is pending and only the CPU is missing."""
        return bool(self._due) and not self._running

    def give(self, completion: Completion) -> None:
        """Queue a completion handler."""
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
        """Run one handler, naming it in hang reports meanwhile."""
        name = getattr(completion.handler, "__qualname__", repr(completion.handler))
        what = f"the end of completion handler {name}, of a message of task {completion.source}"
        self._host.waits.want(self._who, what)
        await completion.handler(self._lapi, completion.argument)
        self._host.waits.got(self._who, what)
        await self._scheduler.enter()
        await completion.then()
        self.runs += 1
        self._scheduler.leave()
