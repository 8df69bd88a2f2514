"""Polling thread (paper 000, 4.4.2): the library polls by itself, so that an application need not.

One CPU has two threads. The polling thread sleeps for a period, takes the CPU by a context switch, polls, and returns
the CPU by another switch. An application that waits also sleeps; the handler that ends its wait costs one switch more.
So a message waits for the next period and for the switches, which the paper calls added latency.
"""

from __future__ import annotations

from firmware.grim.host.dispatch import Dispatch
from firmware.verbs import Host


class PollingThread:
    """Polling thread of one host."""

    def __init__(self, host: Host, dispatch: Dispatch, period_us: int) -> None:
        self._host, self._dispatch = host, dispatch
        self._period_ps = 1_000_000 * period_us
        self._stopped = False
        self.turns = 0
        """Number of polls that the thread has made."""

    def start(self) -> None:
        """Start the thread. Waiting applications then sleep."""
        self._dispatch.threaded = True
        self._host.spawn(self._run(), "polling thread")

    def stop(self) -> None:
        """Stop the thread before its next poll. Waiting applications then poll by themselves."""
        self._stopped = True
        self._dispatch.wake_sleepers()

    async def _run(self) -> None:
        while True:
            await self._host.sleep(self._period_ps, "the polling thread's next turn")
            if self._stopped:
                return
            await self._host.switch_context()
            self.turns += 1
            if not await self._dispatch.poll():
                await self._host.spend("poll_empty")
            await self._host.switch_context()
