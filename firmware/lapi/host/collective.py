"""Collective calls: messages between tasks, each with the number of the call and its kind."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from enum import IntEnum

from firmware.lapi.host.errors import Misuse
from firmware.lapi.host.header import MASK, Header, Kind
from firmware.lapi.host.outgoing import Message


class Call(IntEnum):
    """Kind of a collective call."""

    LAPI_Gfence = 1
    LAPI_Address_init = 2


Give = Callable[[int, Message], Awaitable[None]]
Until = Callable[[Callable[[], bool], str], Awaitable[None]]


class Collective:
    """Collective calls of one task."""

    def __init__(
        self, me: int, tasks: int, notes: dict[tuple[int, int], tuple[int, int]], give: Give, until: Until
    ) -> None:
        """Create the state; `notes` holds kind and value of received messages by source and number."""
        self._me, self._tasks, self._notes, self._give, self._until = me, tasks, notes, give, until
        self._number = 0

    async def barrier(self) -> None:
        """Wait for all tasks by rounds of messages at distances 1, 2, 4, ..."""
        far = 1
        while far < self._tasks:
            number = self._next()
            await self._tell((self._me + far) % self._tasks, number, Call.LAPI_Gfence, 0)
            await self._hear((self._me - far) % self._tasks, number, Call.LAPI_Gfence)
            far *= 2

    async def exchange(self, value: int) -> list[int]:
        """Return the value of each task."""
        number, call = self._next(), Call.LAPI_Address_init
        others = [(self._me + far) % self._tasks for far in range(1, self._tasks)]
        for target in others:
            await self._tell(target, number, call, value)
        values = {source: await self._hear(source, number, call) for source in others}
        return [values.get(task, value) for task in range(self._tasks)]

    def _next(self) -> int:
        self._number = self._number + 1 & MASK
        return self._number

    async def _tell(self, target: int, number: int, call: Call, value: int) -> None:
        await self._give(target, Message(Header(Kind.NOTE, address=number, completion=call, first=value)))

    async def _hear(self, source: int, number: int, call: Call) -> int:
        """Return the value of another task. Raises Misuse if it made a different call."""
        await self._until(lambda: (source, number) in self._notes, f"{call.name} of task {source}")
        other, value = self._notes.pop((source, number))
        if other != call:
            cause = f"task {source} has called {Call(other).name}"
            raise Misuse("", cause, "let all tasks make the same collective calls, in the same order")
        return value
