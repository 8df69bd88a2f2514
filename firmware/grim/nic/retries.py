"""The timer of a network that loses nothing: retry delays."""

from __future__ import annotations

from firmware.grim.nic.clock import Clock
from firmware.grim.nic.reports import Reports


class Retries:
    """Resumes streams and reports to this NI's host."""

    def __init__(self, clock: Clock, reports: Reports) -> None:
        self._clock, self._reports = clock, reports

    async def timer(self) -> None:
        """TIME0: the delays that are over end; the timer goes on with the next."""
        now = await self._clock.expired()
        if await self._clock.release(now):
            await self._reports.again()
        self._clock.arm(now)
