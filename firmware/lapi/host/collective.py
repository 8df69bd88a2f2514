"""Calls that all tasks make: notes go from task to task, each with the number of the call, and its kind."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from enum import IntEnum

from firmware.lapi.host.errors import Misuse
from firmware.lapi.host.header import MASK, Header, Kind
from firmware.lapi.host.outgoing import Message


class Call(IntEnum):
    """Which one."""

    LAPI_Gfence = 1
    LAPI_Address_init = 2


Give = Callable[[int, Message], Awaitable[None]]
Until = Callable[[Callable[[], bool], str], Awaitable[None]]


class Collective:
    """The part of one task."""

    def __init__(
        self, me: int, tasks: int, notes: dict[tuple[int, int], tuple[int, int]], give: Give, until: Until
    ) -> None:
        """`notes` of other tasks, by source and number: kind and value."""
        self._me, self._tasks, self._notes, self._give, self._until = me, tasks, notes, give, until
        self._number = 0

    async def barrier(self) -> None:
        """All tasks are here: in each round one tells another, twice as far off, of all that it knows to be."""
        far = 1
        while far < self._tasks:
            number = self._next()
            await self._tell((self._me + far) % self._tasks, number, Call.LAPI_Gfence, 0)
            await self._hear((self._me - far) % self._tasks, number, Call.LAPI_Gfence)
            far *= 2

    async def exchange(self, value: int) -> list[int]:
        """A value of each task."""
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
        """The value of another task. Raises Misuse when it makes another call."""
        await self._until(lambda: (source, number) in self._notes, f"{call.name} of task {source}")
        other, value = self._notes.pop((source, number))
        if other != call:
            cause = f"task {source} has called {Call(other).name}"
            raise Misuse("", cause, "let all tasks make the same collective calls, in the same order")
        return value
