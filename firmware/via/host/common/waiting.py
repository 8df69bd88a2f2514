"""Waits with a time limit for an action of another task or of an interrupt routine."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import cast

from firmware.verbs import Host
from pymodels.host.process import Process
from pymodels.kernel import Event


class Flag:
    """Event that happens once."""

    def __init__(self, host: Host, why: str) -> None:
        self._host, self.why = host, why
        self._event = host.event(why)
        self.up = False

    def raise_(self) -> None:
        """Set the flag and wake its waiters."""
        self.up = True
        self._event.set()

    async def wait(self, process: Process | None = None, timeout_us: float | None = None) -> bool:
        """Wait until the flag is set or the time is over. Return True if it is set.

        Args:
            process: Process whose thread sleeps. Its wait also ends when a signal handler has run.
            timeout_us: Time limit in microseconds, or None.
        """
        if self.up:
            return True
        if timeout_us is not None:
            self._host.spawn(self._expire(timeout_us), "a time limit")
        await (process.block(cast(Event, self._event)) if process else self._event.wait())
        return self.up

    async def wait_whole(self, process: Process | None = None, timeout_us: float | None = None) -> bool:
        """Wait until the flag is set or the time is over, also across signals. Return True if it is set."""
        limit = Limit(self._host, timeout_us)
        while not self.up and not limit.over:
            await self.wait(process, limit.left_us)
        return self.up

    async def _expire(self, timeout_us: float) -> None:
        await self._host.sleep(int(timeout_us * 1e6), "a time limit")
        self._event.set()


class Limit:
    """Time limit of a call that may sleep several times."""

    def __init__(self, host: Host, timeout_us: float | None) -> None:
        """Start the limit now; None means no limit."""
        self._host = host
        self._end = None if timeout_us is None else host.now + int(timeout_us * 1e6)

    @property
    def left_us(self) -> float | None:
        """Remaining time in microseconds, or None."""
        return None if self._end is None else max(self._end - self._host.now, 0) / 1e6

    @property
    def over(self) -> bool:
        """True if the time is over."""
        return self._end is not None and self._host.now >= self._end


Handler = Callable[..., Awaitable[None] | None]
"""Handler of an application for an event."""
