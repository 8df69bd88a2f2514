"""Threads that sleep until a descriptor is done: the NIC interrupts at the completions that somebody waits for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from firmware.host.via.common.waiting import Flag
from firmware.nic.via.layout import Vi
from pymodels.host.process import Process

if TYPE_CHECKING:
    from firmware.host.via.kernel_agent.agent import Kernel

Wants = Sequence[tuple[int, int]]
"""(VI, work queues as bits of Vi.NOTIFY) of which a completion may be what is waited for."""


class Sleeper(NamedTuple):
    """A thread that sleeps."""

    over: Callable[[], bool]
    flag: Flag
    wants: Wants


class Sleepers:
    """The sleeping threads of a host."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self._sleepers: list[Sleeper] = []

    async def sleep(self, process: Process, over: Callable[[], bool], wants: Wants, timeout_us: float | None) -> None:
        """Let a thread of a process sleep until `over()` holds after an interrupt, or for so long."""
        kernel = self._kernel
        sleeper = Sleeper(over, Flag(kernel.host, f"a completion of VI {', '.join(str(vi) for vi, _ in wants)}"), wants)
        self._sleepers.append(sleeper)
        for vi, _ in [*wants]:
            await self.notify(vi)
        # Behind this read the NIC has the words, and interrupts; what came before is seen by the look after it.
        await process.host.pio_read(kernel.host.nic_base + kernel.layout.vi(wants[0][0] if wants else 0, Vi.NOTIFY))
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
        await self._kernel.write_vi(vi, Vi.NOTIFY, sides)

    def wake(self) -> None:
        """After an interrupt: wake whoever waits for what has come."""
        for sleeper in list(self._sleepers):
            if sleeper.over():
                self._sleepers.remove(sleeper)
                sleeper.flag.raise_()
