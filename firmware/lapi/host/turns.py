"""CPU scheduling among the threads of a task that are in LAPI calls.

A thread has the CPU within a call. One waiting thread polls for all; the others sleep until a packet arrives. The
polling thread yields to them and to the completion thread whenever they are ready, and to other processes at the end of
its quantum.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from firmware.hal.host.interface import Hal
from firmware.lapi.host.handlers import CompletionThread
from firmware.lapi.host.outgoing import Outgoing
from firmware.verbs import Host
from pymodels.host.process import Process
from pymodels.host.scheduler import QUANTUM_PS

Condition = Callable[[], bool]


class Turns:
    """CPU scheduling of one task."""

    def __init__(self, host: Host, process: Process, hal: Hal, thread: CompletionThread, outgoing: Outgoing) -> None:
        self._host, self._hal, self._thread, self._outgoing = host, hal, thread, outgoing
        self._scheduler = process.host.scheduler
        self._polls = False
        self._callers = 0
        """Number of threads in a call that do not have the CPU yet."""
        self._sleepers = 0
        self._stirred = False
        """True if something has changed since the sleeping threads evaluated their conditions."""
        self._stir = host.event("the polling thread")
        self._clock_runs = False

    @asynccontextmanager
    async def call(self) -> AsyncIterator[None]:
        """Hold the CPU for a call."""
        self._callers += 1
        if self._polls:
            self._hal.changed()
        await self._scheduler.enter()
        self._callers -= 1
        try:
            yield
        finally:
            self._scheduler.leave()

    def stirred(self) -> None:
        """Wake the waiting threads after a packet or another change."""
        self._stirred = self._sleepers > 0
        self._stir.set()
        self._hal.changed()

    async def until(self, condition: Condition) -> None:
        """Wait within a call until a condition holds."""
        while not condition():
            if self._polls:
                await self._sleep(condition)
            else:
                await self._poll(condition)

    async def _sleep(self, condition: Condition) -> None:
        """Sleep while another thread polls."""
        self._scheduler.sleep()
        self._sleepers += 1
        while self._polls and not condition():
            await self._stir.wait()
        self._sleepers -= 1
        await self._scheduler.enter()

    async def _poll(self, condition: Condition) -> None:
        """Poll until the condition holds."""
        self._polls = True
        try:
            while not condition():
                end = self._host.now + QUANTUM_PS
                deadline = self._outgoing.deadline()
                await self._hal.wait(lambda: condition() or self._called_for, min(deadline or end, end))
                await self._outgoing.timeouts()
                await self._give_way()
        finally:
            self._polls = False
            self.stirred()

    @property
    def _called_for(self) -> bool:
        return self._stirred or self._thread.wants or self._callers > 0

    async def _give_way(self) -> None:
        """Yield to ready threads, after those just woken have queued."""
        self._stirred = False
        await self._host.sleep(0, "the woken threads")
        await self._scheduler.give_way()
        await self._scheduler.enter()

    def start_clock(self) -> None:
        """Handle time-outs, also when no call is active, until all packets are acknowledged."""
        if not self._clock_runs and self._outgoing.deadline() is not None:
            self._clock_runs = True
            self._host.spawn(self._clock(), "LAPI's clock")

    async def _clock(self) -> None:
        while (deadline := self._outgoing.deadline()) is not None:
            await self._host.sleep(max(deadline - self._host.now, 0), "the end of a time-out")
            await self._outgoing.timeouts()
        self._clock_runs = False
