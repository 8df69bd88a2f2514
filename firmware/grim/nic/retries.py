"""Timer of a lossless network: retry delays."""

from __future__ import annotations

from firmware.grim.nic.clock import Clock
from firmware.grim.nic.reports import Reports


class Retries:
    """Timer step that resumes streams and the reports to this NI's host."""

    def __init__(self, clock: Clock, reports: Reports) -> None:
        self._clock, self._reports = clock, reports

    async def timer(self) -> None:
        """Handle TIME0: end expired delays and program the timer for the next one."""
        now = await self._clock.expired()
        if await self._clock.release(now):
            await self._reports.again()
        self._clock.arm(now)
