"""Waiting, with a limit of time, for something that another task or an interrupt does."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import cast

from firmware.verbs import Host
from pymodels.host.process import Process
from pymodels.kernel import Event


class Flag:
    """Something that happens once."""

    def __init__(self, host: Host, why: str) -> None:
        self._host, self.why = host, why
        self._event = host.event(why)
        self.up = False

    def raise_(self) -> None:
        """It has happened."""
        self.up = True
        self._event.set()

    async def wait(self, process: Process | None = None, timeout_us: float | None = None) -> bool:
        """Wait until it has happened, or for a time; returns whether it has. With a process, its thread sleeps
        meanwhile, and the wait also ends when the handler of a signal has run.
        """
        if self.up:
            return True
        if timeout_us is not None:
            self._host.spawn(self._expire(timeout_us), "a time limit")
        await (process.block(cast(Event, self._event)) if process else self._event.wait())
        return self.up

    async def wait_whole(self, process: Process | None = None, timeout_us: float | None = None) -> bool:
        """Wait until it has happened, or for the whole time, whatever signals the process handles meanwhile."""
        limit = Limit(self._host, timeout_us)
        while not self.up and not limit.over:
            await self.wait(process, limit.left_us)
        return self.up

    async def _expire(self, timeout_us: float) -> None:
        await self._host.sleep(int(timeout_us * 1e6), "a time limit")
        self._event.set()


class Limit:
    """A limit of time of a call that may sleep more than once."""

    def __init__(self, host: Host, timeout_us: float | None) -> None:
        """From now on; None: for ever."""
        self._host = host
        self._end = None if timeout_us is None else host.now + int(timeout_us * 1e6)

    @property
    def left_us(self) -> float | None:
        """What of it is left."""
        return None if self._end is None else max(self._end - self._host.now, 0) / 1e6

    @property
    def over(self) -> bool:
        """Whether nothing is left."""
        return self._end is not None and self._host.now >= self._end


Handler = Callable[..., Awaitable[None] | None]
"""What an application has called for an event."""
