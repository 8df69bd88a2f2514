"""Threads that sleep until a descriptor is done: the NIC interrupts at the completions that a thread waits for."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from firmware.host.via.common.waiting import Flag
from firmware.host.via.common.work_queues import Wants
from firmware.host.words import store_words
from firmware.nic.via.layout import Layout, Vi
from firmware.verbs import Host
from pymodels.host.process import Process


class Sleeper(NamedTuple):
    """A thread that sleeps."""

    over: Callable[[], bool]
    flag: Flag
    wants: Wants


class Sleepers:
    """The sleeping threads of a host."""

    def __init__(self, host: Host, layout: Layout) -> None:
        self._host, self._layout = host, layout
        self._sleepers: list[Sleeper] = []

    async def sleep(self, process: Process, over: Callable[[], bool], wants: Wants, timeout_us: float | None) -> None:
        """Let a thread of a process sleep until `over()` holds after an interrupt, or for so long."""
        flag = Flag(self._host, f"a completion of VI {', '.join(str(vi) for vi, _ in wants)}")
        sleeper = Sleeper(over, flag, wants)
        self._sleepers.append(sleeper)
        for vi, _ in [*wants]:
            await self.notify(vi)
        # Behind this read the NIC has the words, and interrupts; what came before is seen by the look after it.
        await self._host.pio_read(self._host.nic_base + self._layout.vi(wants[0][0] if wants else 0, Vi.NOTIFY))
        if not over():
            await sleeper.flag.wait(process, timeout_us)
        if sleeper in self._sleepers:
            self._sleepers.remove(sleeper)
        for vi, _ in [*wants]:
            await self.notify(vi)

    async def notify(self, vi: int) -> None:
        """Tell the NIC which completions of a VI somebody waits for."""
        sides = 0
        for sleeper in self._sleepers:
            for number, bits in sleeper.wants:
                sides |= bits if number == vi else 0
        await store_words(self._host, self._layout.vi(vi, Vi.NOTIFY), sides)

    def wake(self) -> None:
        """After an interrupt: wake whoever waits for what has come."""
        for sleeper in list(self._sleepers):
            if sleeper.over():
                self._sleepers.remove(sleeper)
                sleeper.flag.raise_()
