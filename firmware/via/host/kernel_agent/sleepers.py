"""Who is told that a descriptor is done: threads that sleep until then, and processes that get a signal. The NIC
interrupts at the completions of which somebody is told.
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
    """A thread that sleeps."""

    over: Callable[[], bool]
    flag: Flag
    wants: Wants


class Told(NamedTuple):
    """A process that is notified of completions until it asks not to be."""

    news: Callable[[], bool]
    """Whether there is something that it has not taken."""
    tell: Callable[[], None]


class Sleepers:
    """The sleeping threads of a host, and the processes that get signals."""

    def __init__(self, host: Host, layout: Layout) -> None:
        self._host, self._layout = host, layout
        self._sleepers: list[Sleeper] = []
        self._told: dict[tuple[int, int], Told] = {}
        """By VI and side of it."""

    async def sleep(self, process: Process, over: Callable[[], bool], wants: Wants, timeout_us: float | None) -> None:
        """Let a thread of a process sleep until `over()` holds after an interrupt, or for so long."""
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

    async def tell(self, vi: int, side: int, told: Told | None) -> None:
        """From now on tell of the completions of one side of a VI; None: no more."""
        self._told.pop((vi, side), None)
        if told is not None:
            self._told[vi, side] = told
        await self.notify(vi)
        await self._settle(vi)
        if told is not None and told.news():
            told.tell()

    async def _settle(self, vi: int) -> None:
        """Behind this read the NIC has the words, and interrupts; what came before is seen by the look after it."""
        await self._host.pio_read(self._host.nic_base + self._layout.vi(vi, Vi.NOTIFY))

    def forget(self, vi: int) -> None:
        """A VI is no more: wake whoever waits for it, and tell nobody of it."""
        self._told = {place: told for place, told in self._told.items() if place[0] != vi}
        self.wake()

    async def notify(self, vi: int) -> None:
        """Tell the NIC of which completions of a VI somebody is told."""
        sides = 0
        for number, side in self._told:
            sides |= side if number == vi else 0
        for sleeper in self._sleepers:
            for number, bits in sleeper.wants:
                sides |= bits if number == vi else 0
        await store_words(self._host, self._layout.vi(vi, Vi.NOTIFY), sides)

    def wake(self) -> None:
        """After an interrupt: wake processes that wait for what has come, and notify those that asked for it."""
        for told in self._told.values():
            if told.news():
                told.tell()
        for sleeper in list(self._sleepers):
            if sleeper.over():
                self._sleepers.remove(sleeper)
                sleeper.flag.raise_()
