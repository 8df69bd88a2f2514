"""Notification of completions: sleeping threads are woken, and processes get signals.

The NIC interrupts at completions that have a listener.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from firmware.common.host.words import store_words
from firmware.verbs import Host
from firmware.via.host.common.waiting import Flag
from firmware.via.host.common.work_queues import Wants
from firmware.via.nic.layout import Layout, Vi
from pymodels.host.process import Process


class Sleeper(NamedTuple):
    """Sleeping thread."""

    over: Callable[[], bool]
    flag: Flag
    wants: Wants


class SignalListener(NamedTuple):
    """Process that gets signals at completions, until it cancels them."""

    news: Callable[[], bool]
    """Return True if a completion has not been taken."""
    send: Callable[[], None]
    """Send the signal."""


class Sleepers:
    """Sleeping threads and signal listeners of one host."""

    def __init__(self, host: Host, layout: Layout) -> None:
        self._host, self._layout = host, layout
        self._sleepers: list[Sleeper] = []
        self._listeners: dict[tuple[int, int], SignalListener] = {}
        """Signal listeners by VI and work queue."""

    async def sleep(self, process: Process, over: Callable[[], bool], wants: Wants, timeout_us: float | None) -> None:
        """Block a thread of a process until `over()` is true after an interrupt, or the time is over.

        Args:
            process: Process of the thread.
            over: Condition.
            wants: VIs and work queues of the completions.
            timeout_us: Time limit in microseconds, or None.
        """
        flag = Flag(self._host, f"a completion of VI {', '.join(str(vi) for vi, _ in wants)}")
        sleeper = Sleeper(over, flag, wants)
        self._sleepers.append(sleeper)
        for vi, _ in [*wants]:
            await self.notify(vi)
        await self._settle(wants[0][0] if wants else 0)
        if not over():
            await sleeper.flag.wait(process, timeout_us)
        if sleeper in self._sleepers:
            self._sleepers.remove(sleeper)
        for vi, _ in [*wants]:
            await self.notify(vi)

    async def listen(self, vi: int, side: int, listener: SignalListener | None) -> None:
        """Register the signal listener of a work queue, or remove it with None."""
        self._listeners.pop((vi, side), None)
        if listener is not None:
            self._listeners[vi, side] = listener
        await self.notify(vi)
        await self._settle(vi)
        if listener is not None and listener.news():
            listener.send()

    async def _settle(self, vi: int) -> None:
        """Read a word of the NIC, so that later completions interrupt. The next check finds earlier ones."""
        await self._host.pio_read(self._host.nic_base + self._layout.vi(vi, Vi.NOTIFY))

    def forget(self, vi: int) -> None:
        """Wake all threads that wait for a destroyed VI, and remove its listeners."""
        self._listeners = {place: listener for place, listener in self._listeners.items() if place[0] != vi}
        self.wake()

    async def notify(self, vi: int) -> None:
        """Set the NIC's notification bits of a VI from its sleepers and listeners."""
        sides = 0
        for number, side in self._listeners:
            sides |= side if number == vi else 0
        for sleeper in self._sleepers:
            for number, bits in sleeper.wants:
                sides |= bits if number == vi else 0
        await store_words(self._host, self._layout.vi(vi, Vi.NOTIFY), sides)

    def wake(self) -> None:
        """Wake threads and send signals for new completions. Called after an interrupt."""
        for listener in self._listeners.values():
            if listener.news():
                listener.send()
        for sleeper in list(self._sleepers):
            if sleeper.over():
                self._sleepers.remove(sleeper)
                sleeper.flag.raise_()
